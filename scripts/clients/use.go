// Uses the Go client that oapi-codegen made: `go run . URL`.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"

	"client/cuetrail"
)

func check(ok bool, what ...any) {
	if !ok {
		fmt.Fprintln(os.Stderr, what...)
		os.Exit(1)
	}
}

func plainBytes(_ context.Context, request *http.Request) error {
	request.Header.Set("Accept", "application/octet-stream")
	return nil
}

func pointer[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	client, err := cuetrail.NewClientWithResponses(os.Args[1])
	check(err == nil, err)

	made, err := client.AddWithResponse(ctx, nil, cuetrail.AddJSONRequestBody{
		Text: pointer("The antenna stands on the lee side."), Id: pointer("mast"), Tags: &[]string{"radio"},
	})
	check(err == nil && made.JSON200 != nil && made.JSON200.Id == "mast", "add", err)

	found, err := client.RecallWithResponse(ctx, cuetrail.RecallJSONRequestBody{Cue: "antenna"})
	check(err == nil && found.JSON200 != nil && found.JSON200.Hits[0].Node.Id == "mast", "recall", err)

	_, err = client.FactWithResponse(ctx, nil, cuetrail.FactJSONRequestBody{
		Subject: "Ines", Predicate: "lives_in", Object: "Turin",
	})
	check(err == nil, "fact", err)
	known, err := client.FactsWithResponse(ctx, cuetrail.FactsJSONRequestBody{Subject: "Ines"})
	check(err == nil && known.JSON200 != nil && len(known.JSON200.Result) == 1, "facts", err)

	report, err := client.ChatWithResponse(ctx, nil, cuetrail.ChatJSONRequestBody{
		Messages: []map[string]any{{"role": "user", "content": "I like rye."}}, Source: "talk",
	})
	check(err == nil && report.JSON200 != nil && report.JSON200.Added == 1, "chat", err)

	// It would read JSON lines as one JSON value.
	file, err := client.ExportWithResponse(ctx, cuetrail.ExportJSONRequestBody{}, plainBytes)
	check(err == nil && bytes.HasPrefix(file.Body, []byte(`{"cuetrail"`)), "export", err)
	sent, err := client.ImportWithBodyWithResponse(ctx, nil, "application/octet-stream", bytes.NewReader(file.Body))
	check(err == nil && sent.JSON200 != nil && sent.JSON200.Added == 0, "import", err)

	refused, err := client.ForgetWithResponse(ctx, nil, cuetrail.ForgetJSONRequestBody{})
	check(err == nil && refused.StatusCode() == 400, "forget", err)
	fmt.Println("go: works")
}
