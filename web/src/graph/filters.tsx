/** Filters of a graph: by kind, tag and time, and a search in the names of its nodes. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import type { Node } from "../api";
import { Button } from "../parts/basics";
import { count, isTime, plain } from "../words";

export interface GraphFilter {
  word: string;
  kind: string;
  tag: string;
  since: string;
  until: string;
}

export const NO_FILTER: GraphFilter = { word: "", kind: "", tag: "", since: "", until: "" };

const DAY = 86_400_000;

/** True if a node passes kind, tag and time. A node that is not known passes only without a filter. */
export function fits(node: Node | undefined, filter: GraphFilter): boolean {
  if (!filter.kind && !filter.tag && !filter.since && !filter.until) return true;
  if (!node) return false;
  if (filter.kind && node.kind !== filter.kind) return false;
  if (filter.tag && !node.tags.includes(filter.tag) && !node.automatic_tags.includes(filter.tag)) return false;
  if (filter.since && node.at < Date.parse(filter.since)) return false;
  return !filter.until || node.at < Date.parse(filter.until) + DAY;
}

const MOST_TAGS = 300;

/** The tags of nodes, people's own first, then those of most nodes. */
function tagsOf(nodes: (Node | undefined)[]): string[] {
  const counts = new Map<string, number>();
  const own = new Set(nodes.flatMap((node) => node?.tags ?? []));
  for (const node of nodes) for (const tag of new Set([...(node?.tags ?? []), ...(node?.automatic_tags ?? [])])) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  const weight = (tag: string): number => (counts.get(tag) ?? 0) + (own.has(tag) ? 1e6 : 0);
  return [...counts.keys()].filter((tag) => own.has(tag) || !isTime(tag)).sort((a, b) => weight(b) - weight(a) || a.localeCompare(b)).slice(0, MOST_TAGS);
}

const NAMES: Record<string, string> = { atom: "passages", source: "notes" };

interface Props {
  nodes: (Node | undefined)[];
  filter: GraphFilter;
  change: (filter: GraphFilter) => void;
  shown: number;
}

export function GraphFilters({ nodes, filter, change, shown }: Props): JSX.Element {
  const kinds = useMemo(() => [...new Set(nodes.flatMap((node) => node?.kind ?? []))].sort(), [nodes.length]);
  const tags = useMemo(() => tagsOf(nodes), [nodes.length]);
  const [open, setOpen] = useState(false);
  const used = (["kind", "tag", "since", "until"] as const).filter((name) => filter[name]).length;
  const set = (changed: Partial<GraphFilter>): void => {
    const next = { ...filter, ...changed };
    change(Object.values(next).some(Boolean) ? next : NO_FILTER);
  };
  return (
    <form class="graph-filters" aria-label="Filters of the graph" onSubmit={(event) => event.preventDefault()}>
      <label class="field-inline">
        Find
        <input type="search" value={filter.word} placeholder="a name in the graph" onInput={(event) => set({ word: event.currentTarget.value })} />
      </label>
      <Button icon="filter" look="quiet" expanded={open} onClick={() => setOpen(!open)}>Filters{used > 0 && ` (${used})`}</Button>
      {filter !== NO_FILTER && (
        <>
          <span class="muted" role="status">{count(shown)} fit</span>
          <Button look="quiet" onClick={() => change(NO_FILTER)}>Show all</Button>
        </>
      )}
      {open && (
        <div class="graph-filters more-filters">
          <label class="field-inline">
            Kind
            <select value={filter.kind} onChange={(event) => set({ kind: event.currentTarget.value })}>
              <option value="">all</option>
              {kinds.map((kind) => <option key={kind} value={kind}>{NAMES[kind] ?? plain(kind)}</option>)}
            </select>
          </label>
          <label class="field-inline">
            Tag
            <select value={filter.tag} onChange={(event) => set({ tag: event.currentTarget.value })}>
              <option value="">all</option>
              {tags.map((tag) => <option key={tag} value={tag}>#{tag}</option>)}
            </select>
          </label>
          <label class="field-inline">
            From
            <input type="date" value={filter.since} onInput={(event) => set({ since: event.currentTarget.value })} />
          </label>
          <label class="field-inline">
            To
            <input type="date" value={filter.until} onInput={(event) => set({ until: event.currentTarget.value })} />
          </label>
        </div>
      )}
    </form>
  );
}
