/** A cache of nodes by id, for the titles in paths and neighbours. */

import { useEffect, useState } from "preact/hooks";

import { ask, type Node } from "../api";

const known = new Map<string, Node>();
const MOST = 20_000;

export function learn(nodes: Iterable<Node>): void {
  if (known.size > MOST) known.clear();
  for (const node of nodes) known.set(node.id, node);
}

/** Removes a changed node from the cache. */
export function unlearn(id: string): void {
  known.delete(id);
}

export const knownNode = (id: string): Node | undefined => known.get(id);

/** Loads the nodes that are not in the cache. */
export async function learnAbout(ids: Iterable<string>, signal?: AbortSignal): Promise<void> {
  const missing = [...new Set(ids)].filter((id) => !known.has(id));
  for (let at = 0; at < missing.length; at += 1000) {
    learn(Object.values(await ask<Record<string, Node>>("nodes", { ids: missing.slice(at, at + 1000) }, signal)));
  }
}

/** Returns the cached nodes of these ids and loads the others. */
export function useKnown(ids: string[]): Map<string, Node> {
  const [, setTurn] = useState(0);
  const key = ids.join("\n");
  useEffect(() => {
    const stop = new AbortController();
    learnAbout(ids, stop.signal).then(
      () => stop.signal.aborted || setTurn((turn) => turn + 1),
      () => undefined,
    );
    return () => stop.abort();
  }, [key]);
  return new Map(ids.flatMap((id) => (known.has(id) ? [[id, known.get(id)!]] : [])));
}
