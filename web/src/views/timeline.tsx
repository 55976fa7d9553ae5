/** Memories by day, newest first, grouped by file. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { ask, type Node, type Problem } from "../api";
import { asProblem, useTitle } from "../hooks";
import { Bucket, Button, Empty, Failure, Kind, Loading, Tag } from "../parts/basics";
import { Labels } from "../parts/hit";
import { learn } from "../parts/known";
import { go, link, type Route } from "../route";
import { atTime, headingOf, isDay, isHeading, isoOf, kindOf, noteTitleOf, onDay, shownTime, snippet, startOfDay, titleOf } from "../words";

interface Listed {
  nodes: Node[];
  more: string | null;
}

const AT_A_TIME = 60;
const KINDS = ["", "any", "atom", "source", "episode", "person", "concept", "entity", "storyline", "macro"];
/** What people wrote, under the titles of its notes. */
const TEXTS = ["atom"];

type Filters = Record<"tag" | "bucket" | "kind" | "since" | "until", string>;

function filtersOf(query: URLSearchParams): Filters {
  const of = (name: string): string => query.get(name) ?? "";
  return { tag: of("tag"), bucket: of("bucket"), kind: of("kind"), since: of("since"), until: of("until") };
}

/** The arguments of `timeline`. */
function argumentsOf(filters: Filters): object {
  return {
    tags: filters.tag ? [filters.tag] : [],
    buckets: filters.bucket ? [filters.bucket] : [],
    kinds: filters.kind === "any" ? [] : filters.kind ? [filters.kind] : TEXTS,
    since: filters.since || null,
    until: filters.until || null,
    limit: AT_A_TIME,
  };
}

/** Loads a list page by page; starts again when `key` changes. */
export function useListed(key: string, given: object): { nodes: Node[]; problem: Problem | undefined; loading: boolean; more: (() => void) | null } {
  const [state, setState] = useState<Listed & { key: string }>({ key: "", nodes: [], more: null });
  const [problem, setProblem] = useState<Problem>();
  const [loading, setLoading] = useState(true);
  const read = (before: Node[], after: string | null, signal?: AbortSignal): void => {
    setLoading(true);
    setProblem(undefined);
    ask<Listed>("timeline", { ...given, after }, signal).then(
      (found) => {
        if (signal?.aborted) return;
        learn(found.nodes);
        setState({ key, nodes: [...before, ...found.nodes], more: found.more });
        setLoading(false);
      },
      (error: unknown) => {
        if (signal?.aborted) return;
        setProblem(asProblem(error));
        setLoading(false);
      },
    );
  };
  useEffect(() => {
    const stop = new AbortController();
    setState({ key: "", nodes: [], more: null });
    read([], null, stop.signal);
    return () => stop.abort();
  }, [key]);
  // While the items of the old key are shown, the list must not look empty.
  const old = state.key !== key;
  const more = !old && state.more !== null && !loading ? () => read(state.nodes, state.more) : null;
  return { nodes: old ? [] : state.nodes, problem, loading: loading || (old && problem === undefined), more };
}

export function TimelineView({ route }: { route: Route }): JSX.Element {
  const filters = filtersOf(route.query);
  useTitle(filters.tag ? `#${filters.tag}` : filters.bucket ? `@${filters.bucket}` : "Timeline");
  const list = useListed(JSON.stringify(filters), argumentsOf(filters));
  const change = (changed: Partial<Filters>): void => go(link("timeline", "", { ...filters, ...changed }));
  const narrowed = Object.values(filters).some(Boolean);
  return (
    <>
      <header class="view-head">
        <h1>Timeline</h1>
        <form class="row" onSubmit={(event) => event.preventDefault()} aria-label="Filters">
          <label class="field-inline">
            Kind
            <select value={filters.kind} onChange={(event) => change({ kind: event.currentTarget.value })}>
              {KINDS.map((kind) => (
                <option key={kind} value={kind}>{kind ? (kind === "any" ? "everything" : `${kindOf(kind)}s`) : "texts"}</option>
              ))}
            </select>
          </label>
          <label class="field-inline">
            From
            <input type="date" value={filters.since} onChange={(event) => change({ since: event.currentTarget.value })} />
          </label>
          <label class="field-inline">
            To
            <input type="date" value={filters.until} onChange={(event) => change({ until: event.currentTarget.value })} />
          </label>
        </form>
      </header>
      {narrowed && (
        <p class="row narrowed">
          <span class="muted">Only</span>
          {filters.bucket && <Bucket name={filters.bucket} />}
          {filters.tag && <Tag name={filters.tag} />}
          {filters.kind && <Kind kind={filters.kind} />}
          {(filters.since || filters.until) && <span>{filters.since || "…"} – {filters.until || "…"}</span>}
          <a class="button quiet" href={link("timeline")}>Show everything</a>
        </p>
      )}
      {list.problem && <Failure problem={list.problem} />}
      {!list.loading && !list.problem && list.nodes.length === 0 && (
        <Empty title={narrowed ? "Nothing is here" : "This memory is empty"}>
          <p>{narrowed ? "No memory passes all of these filters." : "What you add or ingest shows up here."}</p>
        </Empty>
      )}
      <Days nodes={list.nodes} />
      {list.loading && <Loading what="memories" rows={list.nodes.length ? 1 : 4} />}
      {list.more && <p class="more"><Button onClick={list.more}>Show older ones</Button></p>}
    </>
  );
}

/** Consecutive nodes from the same file. */
interface Group {
  source: string | null;
  nodes: Node[];
}

function Days({ nodes }: { nodes: Node[] }): JSX.Element {
  const days = new Map<number, Group[]>();
  for (const node of nodes) {
    const day = startOfDay(shownTime(node));
    const groups = days.get(day) ?? [];
    days.set(day, groups);
    const last = groups.at(-1);
    if (last && last.source !== null && last.source === node.source) last.nodes.push(node);
    else groups.push({ source: node.source, nodes: [node] });
  }
  return (
    <div class="days">
      {[...days].map(([day, groups]) => (
        <section class="day" key={day} aria-label={onDay(day)}>
          <h2>{onDay(day)}</h2>
          <div class="day-groups">
            {groups.map((group) => (
              <Together group={group} key={group.nodes[0]?.id} />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

/** The time of day, if known. */
function When({ node }: { node: Node | undefined }): JSX.Element | null {
  if (!node || isDay(node)) return null;
  return <time dateTime={isoOf(node.at)}>{atTime(node.at)}</time>;
}

const FIRST = 4;

function Together({ group }: { group: Group }): JSX.Element {
  const [all, setAll] = useState(false);
  // Paragraphs of a file are in their order in the file.
  const inOrder = [...group.nodes].sort((one, other) => one.seq - other.seq);
  const file = inOrder.find((node) => node.kind === "source");
  const title = file ? titleOf(file) : group.source !== null && inOrder[0] ? noteTitleOf(inOrder[0]) : "";
  const telling = inOrder.filter((node) => node.kind !== "source" && snippet(node.text, 400) !== title);
  const times = new Set(group.nodes.map((node) => node.at));
  const rows = telling.length || title ? telling : inOrder;
  const shown = all ? rows : rows.slice(0, FIRST);
  return (
    <article class="card together">
      {(group.source || file) && (
        <header class="card-head">
          {title && <a href={link("node", (file ?? inOrder[0]!).id)} data-hit>{title}</a>}
          <span class="source" title={group.source ?? ""}>{group.source}</span>
          {times.size === 1 && <When node={inOrder[0]} />}
        </header>
      )}
      <ul class="rows">
        {shown.map((node) => (
          <li key={node.id}>
            <a class={`row-text ${isHeading(node) ? "heading" : ""}`} href={link("node", node.id)} data-hit>{node.name ?? (<>{headingOf(node) && <b>{headingOf(node)} · </b>}{snippet(node.text, 400) || node.id}</>)}</a>
            <span class="row-facts">
              {node.kind !== "atom" && <Kind kind={node.kind} />}
              {(times.size > 1 || group.source === null) && <When node={node} />}
            </span>
            {rows.length === 1 && <Labels node={node} />}
          </li>
        ))}
      </ul>
      {rows.length > shown.length && <Button look="quiet" onClick={() => setAll(true)}>Show {rows.length - shown.length} more</Button>}
    </article>
  );
}
