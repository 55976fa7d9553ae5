/** The actions on a memory: write, edit, quarantine, forget. Each has a dialog that explains its effect. */

import type { JSX, TargetedEvent } from "preact";
import { useState } from "preact/hooks";

import { ask, type Node, type Problem, view } from "../api";
import { forgetLater, SECONDS } from "../forgetting";
import { asProblem, useAsked } from "../hooks";
import { many, snippet, titleOf } from "../words";
import { Button, Failure, Icon, Loading } from "./basics";
import { Dialog } from "./dialog";
import { unlearn } from "./known";

const words = (text: string): string[] => text.split(",").map((word) => word.trim()).filter(Boolean);

interface EditProps {
  /** Without a node, a new memory is written. */
  node?: Node;
  /** Tags given by people; tags from rules stay as they are. */
  tags?: string[];
  onClose: () => void;
  onDone: (node: Node) => void;
  /** Takes files that are chosen instead of writing. */
  onFiles?: (files: File[]) => void;
}

/** Kinds that people write. */
const KINDS = [
  ["atom", "a note"],
  ["person", "a person"],
  ["concept", "a concept"],
  ["entity", "a thing, place or organisation"],
  ["belief", "a belief of mine"],
  ["goal", "a goal of mine"],
] as const;

/** A note has a title; everything else has a name, by which texts mention it. */
const titled = (kind: string, title: string): object => (!title ? {} : kind === "atom" ? { props: { title } } : { name: title });

export function EditDialog({ node, tags, onClose, onDone, onFiles }: EditProps): JSX.Element {
  const [draft, setDraft] = useState({
    name: node?.name ?? "",
    text: node?.text ?? "",
    kind: node?.kind ?? "atom",
    tags: (tags ?? node?.tags ?? []).join(", "),
    buckets: (node?.buckets ?? []).join(", "),
  });
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const change = (name: keyof typeof draft) => (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement>) =>
    setDraft({ ...draft, [name]: event.currentTarget.value });
  const save = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    const said = { text: draft.text, tags: words(draft.tags), buckets: words(draft.buckets) };
    const title = draft.name.trim();
    try {
      const saved = node ? await ask<Node>("edit", { id: node.id, ...(title && { name: title }), ...said }) : await ask<Node>("add", { kind: draft.kind, ...titled(draft.kind, title), ...said });
      unlearn(saved.id);
      onDone(saved);
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={node ? "Edit this memory" : "Write a memory"} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {node?.source && (
          <p class="notice">It came from <b>{node.source}</b>, which stays as it is. Edit it there too, or the next ingest may bring the old text back.</p>
        )}
        {(!node || node.name !== null) && (
          <label class="field">
            {node || draft.kind !== "atom" ? "Name" : "Title"}
            <input value={draft.name} onInput={change("name")} placeholder={draft.kind === "atom" ? "optional" : "needed, such as Hanne Vogel"} />
          </label>
        )}
        <label class="field">
          Text
          <textarea rows={7} value={draft.text} onInput={change("text")} data-first={node ? true : undefined} />
        </label>
        <div class="pair">
          <label class="field">
            Tags
            <input value={draft.tags} onInput={change("tags")} placeholder="separated by commas" />
          </label>
          <label class="field">
            Buckets
            <input value={draft.buckets} onInput={change("buckets")} placeholder="separated by commas" />
          </label>
        </div>
        {!node && (
          <div class="row">
            <label class="field-inline">
              It is
              <select value={draft.kind} onChange={(event) => setDraft({ ...draft, kind: event.currentTarget.value })}>
                {KINDS.map(([kind, said]) => <option key={kind} value={kind}>{said}</option>)}
              </select>
            </label>
            {onFiles && <FilePicker onFiles={onFiles} />}
          </div>
        )}
        {problem && <Failure problem={problem} />}
        <footer class="row end">
          {node && <span class="muted grow">What it said before is kept as history.</span>}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="strong" disabled={busy}>{busy ? "Saving…" : "Save"}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

function FilePicker({ onFiles }: { onFiles: (files: File[]) => void }): JSX.Element {
  return (
    <label class="button picker">
      <Icon name="file" />
      Take in files…
      <input class="unseen" type="file" multiple onChange={(event) => onFiles([...(event.currentTarget.files ?? [])])} />
    </label>
  );
}

/** The memories that move with one: for a file, everything from it. */
export const wholeOf = (node: Node): { ids: string[] } | { source: string } =>
  node.kind === "source" && node.source ? { source: node.source } : { ids: [node.id] };

interface Doomed {
  meant: Node[];
  copies: Node[];
  /** Memories that say more and lose only the forgotten words, and what stays of the text of each. */
  cut: Node[];
  left: string[];
}

const MOST_SHOWN = 8;

/** The lines of a text that are not in what stays of it. */
export function cutOut(text: string, left: string): string {
  const stays = new Set(left.split("\n").map((line) => line.trim()));
  return text.split("\n").filter((line) => line.trim() && !stays.has(line.trim())).join("\n");
}

/** The memories that lose a part, each with the lines that are cut out of it. */
function Cut({ nodes, left }: { nodes: Node[]; left: string[] }): JSX.Element {
  return (
    <>
      <p>{many(nodes.length, "other memory says more and loses", "other memories say more and lose")} only these words:</p>
      <ul class="doomed">
        {nodes.slice(0, MOST_SHOWN).map((one, at) => (
          <li key={one.id}>
            <span class="muted">{one.source ?? titleOf(one, 60)}</span> <del>{snippet(cutOut(one.text, left[at] ?? ""), 240)}</del>
          </li>
        ))}
        {nodes.length > MOST_SHOWN && <li class="muted">and {nodes.length - MOST_SHOWN} more</li>}
      </ul>
    </>
  );
}

interface Found {
  doomed: Doomed;
  /** Files on the disk that hold what is forgotten. */
  files: string[];
}

/** All that goes with these memories, and the files that still hold it. */
async function doomedBy(nodes: Node[], signal: AbortSignal): Promise<Found> {
  const doomed = await ask<Doomed>("doomed", { ids: nodes.map((node) => node.id) }, signal);
  const sources = [...new Set([...doomed.meant, ...doomed.copies, ...doomed.cut].flatMap((one) => one.source ?? []))];
  const found = await view<{ files: Record<string, { path: string }> }>("files", { sources: sources.slice(0, 1000) }, signal);
  return { doomed, files: Object.values(found.files).map((one) => one.path) };
}

interface ForgetProps {
  nodes: Node[];
  onClose: () => void;
  onDone: () => void;
}

/** Shows everything that would go: copies, all of a file, and parts of others. Then ten seconds are left to undo it. */
export function ForgetDialog({ nodes, onClose, onDone }: ForgetProps): JSX.Element {
  const found = useAsked(nodes.map((node) => node.id).join(" "), (signal) => doomedBy(nodes, signal));
  const forget = (): void => {
    const title = nodes.length === 1 ? `“${titleOf(nodes[0]!, 60)}”` : many(nodes.length, "memory", "memories");
    forgetLater(nodes.map((node) => node.id), title, found.data?.files ?? []);
    onDone();
  };
  return (
    <Dialog title={nodes.length === 1 ? "Forget this for good?" : `Forget these ${nodes.length} for good?`} onClose={onClose}>
      {found.loading && <Loading what="what would go" rows={1} />}
      {found.problem && <Failure problem={found.problem} again={found.again} />}
      {found.data && <Going {...found.data} />}
      <footer class="row end">
        <Button onClick={onClose}>Keep it</Button>
        <Button look="danger" icon="forget" disabled={!found.data} onClick={forget}>Forget for good</Button>
      </footer>
    </Dialog>
  );
}

function Going({ doomed, files }: Found): JSX.Element {
  const all = [...doomed.meant, ...doomed.copies];
  const copies = doomed.copies.length;
  return (
    <>
      <p>
        {many(all.length, "memory goes", "memories go")}
        {copies > 0 && `, of which ${copies} ${copies === 1 ? "is a copy" : "are copies"} in another place`}.{" "}
        {all.length === 1 ? "It" : "They"} will not come back by ingest, import or dreams. You have {SECONDS} seconds to undo it.
      </p>
      <ul class="doomed">
        {all.slice(0, MOST_SHOWN).map((one) => (
          <li key={one.id}>{one.text ? snippet(one.text, 110) : titleOf(one, 110)}{one.source && <span class="muted"> {one.source}</span>}</li>
        ))}
        {all.length > MOST_SHOWN && <li class="muted">and {all.length - MOST_SHOWN} more</li>}
      </ul>
      {doomed.cut.length > 0 && <Cut nodes={doomed.cut} left={doomed.left} />}
      {files.length > 0 && (
        <p class="notice">
          {files.length === 1 ? "This file on your disk still holds the text and stays as it is" : `${files.length} files on your disk still hold some of the text and stay as they are`}: <b>{files.slice(0, 3).join(", ")}</b>{files.length > 3 && " …"}
        </p>
      )}
    </>
  );
}
