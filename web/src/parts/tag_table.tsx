/** The tags that people gave, each with buttons to rename it and to hide it on this page. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, type Node, type Problem, view } from "../api";
import { asProblem } from "../hooks";
import { count, many } from "../words";
import { Button, Failure } from "./basics";
import { Dialog } from "./dialog";
import { unlearn } from "./known";
import { hideTag, useHiddenTags } from "./tags";

interface Props {
  tags: { name: string; nodes: number }[];
  kinds: string[];
  again: () => void;
}

export function TagTable({ tags, kinds, again }: Props): JSX.Element {
  const [renamed, setRenamed] = useState<string | null>(null);
  const hidden = useHiddenTags();
  return (
    <>
      <ul class="tag-table">
        {tags.map(({ name, nodes }) => (
          <li key={name} class={hidden.has(name) ? "hidden-tag" : undefined}>
            <span>#{name} <span class="muted">{count(nodes)}</span></span>
            <Button look="quiet" label={`Rename #${name}`} onClick={() => setRenamed(name)}>Rename</Button>
            <Button look="quiet" label={`${hidden.has(name) ? "Show" : "Hide"} #${name}`} onClick={() => hideTag(name, !hidden.has(name))}>{hidden.has(name) ? "Show" : "Hide"}</Button>
          </li>
        ))}
      </ul>
      {renamed !== null && <RenameDialog tag={renamed} kinds={kinds} onClose={() => setRenamed(null)} onDone={() => { setRenamed(null); again(); }} />}
    </>
  );
}

interface Labelled {
  mine: boolean;
  labels: { name: string; display: string; origin: string }[];
}

/** The ids of all memories that have a tag. */
async function tagged(tag: string, kinds: string[]): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const given = { tags: [tag], kinds, include_archived: true, include_quarantined: true, limit: 500, after };
    const page: { nodes: Node[]; more: string | null } = await ask("timeline", given);
    ids.push(...page.nodes.map((node) => node.id));
    after = page.more;
  } while (after !== null);
  return ids;
}

/** Gives one tag another name on every memory of this user. */
async function renameTag(from: string, to: string, kinds: string[], tell: (done: number) => void): Promise<void> {
  let done = 0;
  for (const id of await tagged(from, kinds)) {
    const { mine, labels } = await view<Labelled>("about", { id });
    const own = labels.filter((one) => one.origin === "user");
    if (!mine || !own.some((one) => one.name === from)) continue;
    await ask<Node>("edit", { id, tags: own.map((one) => (one.name === from ? to : one.display)) });
    unlearn(id);
    done += 1;
    tell(done);
  }
}

interface RenameProps {
  tag: string;
  kinds: string[];
  onClose: () => void;
  onDone: () => void;
}

function RenameDialog({ tag, kinds, onClose, onDone }: RenameProps): JSX.Element {
  const [text, setText] = useState(tag);
  const [done, setDone] = useState<number | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const to = text.trim().replace(/^#/, "");
  const save = async (): Promise<void> => {
    setDone(0);
    setProblem(undefined);
    try {
      await renameTag(tag, to, kinds, setDone);
      onDone();
    } catch (error) {
      setProblem(asProblem(error));
      setDone(null);
    }
  };
  return (
    <Dialog title={`Rename #${tag}`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => { event.preventDefault(); void save(); }}>
        <label class="field">
          New name
          <input value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <p class="muted">It changes on your memories, here. A file that has the old tag keeps it, and brings it back when the file is edited. The name of another tag merges the two.</p>
        {problem && <Failure problem={problem} />}
        <footer class="row end">
          {done !== null && <span class="muted grow" role="status">{many(done, "memory", "memories")} renamed…</span>}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="strong" disabled={done !== null || !to || to === tag}>Rename</Button>
        </footer>
      </form>
    </Dialog>
  );
}
