/** What can be done with several selected memories at once: forget them, or give them a tag. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, type Node, type Problem, view } from "../api";
import { asProblem } from "../hooks";
import { many } from "../words";
import { ForgetDialog } from "./actions";
import { Button, Failure } from "./basics";
import { Dialog } from "./dialog";
import { unlearn } from "./known";

export function Selection({ nodes, clear, again }: { nodes: Node[]; clear: () => void; again: () => void }): JSX.Element | null {
  const [doing, setDoing] = useState<"forget" | "tag" | null>(null);
  if (!nodes.length) return null;
  return (
    <div class="selection" role="region" aria-label="Selected memories">
      <b role="status">{count(nodes.length)}</b>
      <Button icon="tag" onClick={() => setDoing("tag")}>Tag</Button>
      <Button icon="forget" onClick={() => setDoing("forget")}>Forget</Button>
      <Button look="quiet" onClick={clear}>Clear</Button>
      {doing === "forget" && <ForgetDialog nodes={nodes} onClose={() => setDoing(null)} onDone={() => { setDoing(null); clear(); }} />}
      {doing === "tag" && <TagDialog nodes={nodes} onClose={() => setDoing(null)} onDone={() => { setDoing(null); clear(); again(); }} />}
    </div>
  );
}

const count = (number: number): string => `${many(number, "memory", "memories")} selected`;

interface Labelled {
  labels: { display: string; origin: string }[];
}

/** Gives tags to a memory and keeps those it has. */
export async function addTags(id: string, tags: string[]): Promise<void> {
  const { labels } = await view<Labelled>("about", { id });
  const own = labels.filter((one) => one.origin === "user").map((one) => one.display);
  await ask<Node>("edit", { id, tags: [...own, ...tags] });
  unlearn(id);
}

function TagDialog({ nodes, onClose, onDone }: { nodes: Node[]; onClose: () => void; onDone: () => void }): JSX.Element {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const save = async (): Promise<void> => {
    const tags = text.split(",").map((word) => word.trim().replace(/^#/, "")).filter(Boolean);
    if (!tags.length) return;
    setBusy(true);
    setProblem(undefined);
    try {
      for (const node of nodes) await addTags(node.id, tags);
      onDone();
    } catch (error) {
      setProblem(asProblem(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Tag ${many(nodes.length, "memory", "memories")}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => { event.preventDefault(); void save(); }}>
        <label class="field">
          Tags to add
          <input value={text} placeholder="separated by commas" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        {problem && <Failure problem={problem} />}
        <footer class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="strong" disabled={busy || !text.trim()}>{busy ? "Saving…" : "Add the tags"}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
