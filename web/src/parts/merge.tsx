/** Merges a person, concept or thing into another that means the same, after showing what passes on. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, type Node, type Problem } from "../api";
import { asProblem } from "../hooks";
import { many, titleOf } from "../words";
import { Button, Failure } from "./basics";
import { Dialog } from "./dialog";
import { unlearn } from "./known";
import { NamePicker, type Picked } from "./pick_name";

/** The kinds of nodes that mean people and things. */
const MERGED = new Set(["person", "concept", "decision", "preference", "entity", "project", "file", "conversation"]);

export const canMerge = (node: Node): boolean => MERGED.has(node.kind) && node.name !== null && node.source === null;

interface Merged {
  node: Node;
  aliases: string[];
  facts: number;
  edges: number;
  notes: number;
}

export function MergeDialog({ node, onClose, onDone }: { node: Node; onClose: () => void; onDone: (kept: string) => void }): JSX.Element {
  const [other, setOther] = useState<Picked>({ id: "", title: "" });
  const [preview, setPreview] = useState<Merged>();
  const [problem, setProblem] = useState<Problem>();
  const title = titleOf(node, 60);
  const run = (dryRun: boolean): void => {
    setProblem(undefined);
    const given = { id: node.id, into: other.id || other.title.trim(), dry_run: dryRun };
    ask<Merged>("merge", given).then(
      (merged) => {
        if (dryRun) return setPreview(merged);
        unlearn(merged.node.id);
        onDone(merged.node.id);
      },
      (error: unknown) => setProblem(asProblem(error)),
    );
  };
  return (
    <Dialog title={`Merge ${title} into another`} onClose={onClose}>
      <form class="stack" onSubmit={(event) => { event.preventDefault(); run(!preview); }}>
        <NamePicker label="Into" not={node.id} picked={other} pick={(one) => { setOther(one); setPreview(undefined); }} />
        {preview && (
          <div class="notice" role="status">
            <p>
              <b>{titleOf(preview.node, 60)}</b> takes over {many(preview.facts, "fact")}, {many(preview.edges, "link")} and {many(preview.notes, "note")}
              {preview.aliases.length > 0 && <>, and is also called {preview.aliases.join(", ")}</>}. <b>{title}</b> is then gone. This cannot be undone.
            </p>
          </div>
        )}
        {problem && <Failure problem={problem} />}
        <footer class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={preview ? "danger" : "strong"} disabled={!other.title.trim()}>{preview ? "Merge them" : "What would happen?"}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
