/** The quarantined memories: stored, but left out of searches unless requested. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { askFor, type Node, type Problem } from "../api";
import { usePending } from "../forgetting";
import { asProblem, useTitle } from "../hooks";
import { ForgetDialog, wholeOf } from "../parts/actions";
import { Button, Empty, Failure, Loading } from "../parts/basics";
import { MemoryHead } from "../parts/hit";
import { many } from "../words";
import { useListed } from "./timeline";

export function QuarantineView(): JSX.Element {
  useTitle("Quarantine");
  const [turn, setTurn] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const [doomed, setDoomed] = useState<Node | null>(null);
  const pending = usePending();
  const list = useListed(`quarantine ${turn}`, { provenance: "quarantine", include_archived: true, limit: 60 });
  const letBack = (what: { ids: string[] } | { source: string }): void => {
    setProblem(undefined);
    askFor<Node[]>("quarantine", { ...what, undo: true }).then(() => setTurn(turn + 1), (error: unknown) => setProblem(asProblem(error)));
  };
  // Memories from a quarantined file are listed with the file.
  const files = new Set(list.nodes.filter((node) => node.kind === "source").map((node) => node.source));
  const within = (node: Node): boolean => node.kind !== "source" && node.source !== null && files.has(node.source);
  const held = (file: Node): number => (file.kind === "source" ? list.nodes.filter((node) => within(node) && node.source === file.source).length : 0);
  return (
    <>
      <header class="view-head">
        <h1>Quarantine</h1>
        {list.nodes.length > 1 && (
          <Button onClick={() => letBack({ ids: list.nodes.map((node) => node.id) })}>Let {list.more ? "these" : "all"} {list.nodes.length} back</Button>
        )}
      </header>
      <p class="lead">Memories you do not trust. Nothing of them is lost, and nothing finds them unless it is asked to.</p>
      {(problem ?? list.problem) && <Failure problem={(problem ?? list.problem)!} />}
      {!list.loading && !list.problem && list.nodes.length === 0 && (
        <Empty title="Nothing is set aside">
          <p><b>Set aside</b> on a memory puts it here, and so does <code>cuetrail quarantine --source PATH</code> with a whole file.</p>
        </Empty>
      )}
      <div class="list">
        {list.nodes.filter((node) => !within(node) && !pending.has(node.id)).map((node) => (
          <article class="card" key={node.id}>
            <MemoryHead node={node} />
            {held(node) > 0 && <p class="muted held">With {many(held(node), "memory", "memories")} that came from it.</p>}
            <footer class="row card-actions">
              <Button onClick={() => letBack(wholeOf(node))}>Let back</Button>
              <Button look="quiet" icon="forget" onClick={() => setDoomed(node)}>Forget</Button>
            </footer>
          </article>
        ))}
      </div>
      {list.loading && <Loading what="what is set aside" rows={2} />}
      {list.more && <p class="more"><Button onClick={list.more}>Show more</Button></p>}
      {doomed && (
        <ForgetDialog
          nodes={[doomed]}
          onClose={() => setDoomed(null)}
          onDone={() => setDoomed(null)}
        />
      )}
    </>
  );
}
