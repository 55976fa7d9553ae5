/** The actions on a memory: write, edit, quarantine, forget. Each has a dialog that explains its effect. */

import type { JSX, TargetedEvent } from "preact";
import { useState } from "preact/hooks";

import { ask, askFor, type Node, type Problem } from "../api";
import { asProblem, useAsked } from "../hooks";
import { many, snippet, titleOf } from "../words";
import { Button, Failure, Loading } from "./basics";
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
}

export function EditDialog({ node, tags, onClose, onDone }: EditProps): JSX.Element {
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
    try {
      const named = draft.name.trim() ? { name: draft.name.trim() } : {};
      const saved = node ? await ask<Node>("edit", { id: node.id, ...named, ...said }) : await ask<Node>("add", { kind: draft.kind, ...named, ...said });
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
        {!node && (
          <label class="field">
            Kind
            <select value={draft.kind} onChange={(event) => setDraft({ ...draft, kind: event.currentTarget.value })}>
              {["atom", "person", "concept", "entity", "belief", "goal"].map((kind) => (
                <option key={kind}>{kind}</option>
              ))}
            </select>
          </label>
        )}
        {(!node || node.name !== null) && (
          <label class="field">
            Name
            <input value={draft.name} onInput={change("name")} placeholder={node ? "" : "only for people, concepts and things"} />
          </label>
        )}
        <label class="field">
          Text
          <textarea rows={7} value={draft.text} onInput={change("text")} />
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

interface ForgetProps {
  node: Node;
  onClose: () => void;
  onDone: () => void;
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

/** Forgetting cannot be undone, so the dialog shows everything that goes: copies, all of a file, and parts of others. */
export function ForgetDialog({ node, onClose, onDone }: ForgetProps): JSX.Element {
  const doomed = useAsked(node.id, (signal) => ask<Doomed>("doomed", { ids: [node.id] }, signal));
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const forget = async (): Promise<void> => {
    setBusy(true);
    try {
      await askFor<string[]>("forget", { ids: [node.id] });
      unlearn(node.id);
      onDone();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  const all = doomed.data ? [...doomed.data.meant, ...doomed.data.copies] : [];
  return (
    <Dialog title="Forget this for good?" onClose={onClose}>
      {doomed.loading && <Loading what="what would go" rows={1} />}
      {doomed.problem && <Failure problem={doomed.problem} again={doomed.again} />}
      {doomed.data && (
        <>
          <p>
            {many(all.length, "memory goes", "memories go")}
            {doomed.data.copies.length > 0 && `, of which ${doomed.data.copies.length} ${doomed.data.copies.length === 1 ? "is a copy" : "are copies"} in another place`}.
            It will not come back by ingest, import or dreams, and there is no undo.
          </p>
          <ul class="doomed">
            {all.slice(0, MOST_SHOWN).map((one) => (
              <li key={one.id}>{titleOf(one, 110)}</li>
            ))}
            {all.length > MOST_SHOWN && <li class="muted">and {all.length - MOST_SHOWN} more</li>}
          </ul>
          {doomed.data.cut.length > 0 && <Cut nodes={doomed.data.cut} left={doomed.data.left} />}
        </>
      )}
      {problem && <Failure problem={problem} />}
      <footer class="row end">
        <Button onClick={onClose}>Keep it</Button>
        <Button look="danger" icon="forget" disabled={busy || !doomed.data} onClick={() => void forget()}>
          {busy ? "Forgetting…" : "Forget for good"}
        </Button>
      </footer>
    </Dialog>
  );
}
