// Uses the TypeScript client that @hey-api/openapi-ts made: `node use.js URL`.
import assert from "node:assert/strict";
import { add, chat, export_, fact, facts, forget, get, import_, mem0GetV1Memories, recall } from "./client/index.js";
import { client } from "./client/client.gen.js";

client.setConfig({ baseUrl: process.argv[2] });

const made = await add({ body: { text: "The antenna stands on the lee side.", id: "mast", tags: ["radio"] } });
assert.equal(made.data?.id, "mast");
assert.deepEqual(made.data?.tags, ["radio"]);

const found = await recall({ body: { cue: "antenna", budget: { chars: 2000 }, since: "yesterday" } });
const answer = found.data;
assert.ok(answer && typeof answer !== "string");
assert.equal(answer.hits[0]?.node.id, "mast");
assert.match(answer.text, /lee side/);

await fact({ body: { subject: "Ines", predicate: "lives_in", object: "Turin" } });
const known = (await facts({ body: { subject: "Ines" } })).data;
assert.ok(known && typeof known !== "string");
assert.deepEqual(known.result.map((one) => one.value), ["Turin"]);

const report = (await chat({ body: { messages: [{ role: "user", content: "I like rye." }], source: "talk" } })).data;
assert.ok(report && typeof report !== "string");
assert.equal(report.added, 1);

assert.equal((await get({ body: { id: "nobody" } })).response?.status, 200);

const file = await export_({ parseAs: "blob" });
assert.ok(file.data instanceof Blob);
const sent = (await import_({ body: file.data })).data;
assert.ok(sent && typeof sent !== "string");
assert.equal(sent.added, 0);

assert.equal((await mem0GetV1Memories({ query: { user_id: "me" } })).response?.status, 200);

const refused = await forget({ body: {} });
assert.equal(refused.error?.status, 400);
console.log("typescript: works");
