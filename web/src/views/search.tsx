/** Search: one list of results, best first, with the current facts before it. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { ask, type Hit, type Node, type RecalledFact, type Recollection, type Stats } from "../api";
import { usePending } from "../forgetting";
import { useAsked, useTitle } from "../hooks";
import { Button, Empty, Failure, Loading, Told } from "../parts/basics";
import { HitCard, MemoryHead } from "../parts/hit";
import { learn, useKnown } from "../parts/known";
import { keepSearch, useSavedSearches } from "../parts/saved";
import { Selection } from "../parts/selection";
import { link, type Route } from "../route";
import { count, isHeading, many, onShortDay, taken } from "../words";
import { GraphView } from "./graph";
import { addressOf, argumentsOf, type Form, formOf, SearchForm, TABS } from "./search_form";

export function SearchView({ route }: { route: Route }): JSX.Element {
  const form = formOf(route.query);
  const [typed, setTyped] = useState("");
  /** The last question: the results of what was typed stay while the same is sent off. */
  const last = useRef("");
  const typing = typed === addressOf(form);
  // What is shown while it is typed is not counted as used. A single word may not be at its end.
  const given = { ...argumentsOf(form), record_access: !typing, ...(typing && /^[^\s#@*"]+$/.test(form.q) && { cue: `${form.q}*` }) };
  useTitle(form.q || "Search");
  const found = useAsked(form.q.trim() ? JSON.stringify(given) : null, async (signal) => {
    const begun = performance.now();
    const recollection = { ...(await ask<Recollection>("recall", given, signal)), cue: form.q };
    const ms = performance.now() - begun;
    learn(everyHit(recollection).map((hit) => hit.node));
    return { recollection, ms };
  }, typed !== "" || last.current === form.q);
  useEffect(() => {
    last.current = form.q;
  }, [form.q, typed]);
  return (
    <div class="search">
      <SearchForm form={form} typing={setTyped} />
      {!form.q.trim() && <Welcome />}
      {found.loading && !found.data && <Loading what="what was found" rows={4} />}
      {found.problem && <Failure problem={found.problem} again={found.again} />}
      {found.data && <Found {...found.data} form={form} again={found.again} />}
    </div>
  );
}

const everyHit = ({ hits }: Recollection): Hit[] => hits.flatMap((hit) => [hit, ...hit.more]);

/** Direct and related results in one list: each kind stays in its own order, and the better of both comes first. */
export function merged(hits: Hit[]): Hit[] {
  const [direct, related] = [hits.filter((hit) => hit.direct), hits.filter((hit) => !hit.direct)];
  const all: Hit[] = [];
  while (direct.length || related.length) {
    const from = !related.length || (direct[0] && direct[0].score >= related[0]!.score) ? direct : related;
    all.push(from.shift()!);
  }
  return all;
}

function Found({ recollection, ms, form, again }: { recollection: Recollection; ms: number; form: Form; again: () => void }): JSX.Element {
  const hits = useMemo(() => merged(recollection.hits), [recollection]);
  const related = hits.filter((hit) => !hit.direct).length;
  // The reasons name what the trail leads through; the results do not wait for these names.
  useKnown(useMemo(() => everyHit(recollection).flatMap((hit) => (hit.why.path ?? []).flatMap((step) => [step.src, step.dst])), [recollection]));
  const { answerable } = recollection;
  return (
    <section class="found" aria-label="What was found" data-cue={recollection.cue.trim()}>
      <div class="found-head">
        <p role="status">
          {answerable ? `${many(hits.length, "result")}${related ? `, ${count(related)} of them related` : ""}, in ${taken(ms)}` : `Nothing that answers, in ${taken(ms)}`}
          {recollection.attempt !== "full" && answerable && `, your words read by their ${recollection.attempt}`}
        </p>
        <Keep form={form} />
        <nav class="tabs" aria-label="Ways to look at it">
          {TABS.map(([name, title]) => (
            <a key={name} href={addressOf({ ...form, tab: name })} aria-current={form.tab === name ? "page" : undefined}>{title}</a>
          ))}
        </nav>
      </div>
      {form.tab !== "hits" && recollection.notices.map((notice) => (
        <p class="notice" key={notice}><Told text={notice} /></p>
      ))}
      {form.tab === "graph" ? (
        <GraphView cue={form.q} found={recollection} />
      ) : form.tab === "text" ? (
        <AgentText text={recollection.text} />
      ) : (
        <>
          {recollection.notices.filter((notice) => !notice.startsWith("to fit the budget")).map((notice) => (
            <p class="notice" key={notice}><Told text={notice} /></p>
          ))}
          {answerable && recollection.facts.length > 0 && <Facts facts={recollection.facts} />}
          {!answerable && <Nothing recollection={recollection} />}
          <Results hits={answerable ? hits : hits.slice(0, NEAREST)} recollection={recollection} again={again} />
        </>
      )}
    </section>
  );
}

/** So many of the nearest memories are shown where none answers. */
const NEAREST = 3;

/** Keeps this search among the saved ones. */
function Keep({ form }: { form: Form }): JSX.Element {
  const one = { title: form.q.trim(), address: addressOf({ ...form, tab: "hits" }) };
  const kept = useSavedSearches().some((each) => each.address === one.address);
  return (
    <Button icon="star" look="quiet" pressed={kept} onClick={() => keepSearch(one, !kept)}>{kept ? "Saved" : "Save this search"}</Button>
  );
}

function SavedSearches(): JSX.Element | null {
  const saved = useSavedSearches();
  if (!saved.length) return null;
  return (
    <section class="saved lately" aria-label="Saved searches">
      <header class="list-head"><h2>Saved searches</h2></header>
      <ul>
        {saved.map((one) => (
          <li key={one.address}>
            <a href={one.address}>{one.title}</a>
            <Button icon="close" look="quiet" label={`Remove ${one.title}`} onClick={() => keepSearch(one, false)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ facts }: { facts: RecalledFact[] }): JSX.Element {
  return (
    <section class="card current" aria-label="Current facts">
      <h2>What holds now</h2>
      <ul>
        {facts.map((one) => (
          <li key={one.fact.id}>
            <span class="fact-said">{one.line.replace(/^[-•] /, "").replace(/ \(since [^()]*\)$/, "")}</span>
            <span class="muted">
              since {onShortDay(one.since)},{" "}
              {one.fact.source_ref ? <>from <a href={link("node", one.fact.source_ref)}>{one.source ?? "the text that says so"}</a></> : one.source ? `from ${one.source}` : "stated directly"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Nothing({ recollection }: { recollection: Recollection }): JSX.Element {
  return (
    <section class="refusal" aria-label="No answer">
      <h2>I found nothing that answers</h2>
      {recollection.looked_for.length > 0 && <p>I looked for {recollection.looked_for.join(", ")}. Try fewer or other words, or forgive typos under “Advanced”.</p>}
      {recollection.hits.length > 0 && <p class="nearest">The nearest memories, which may be about something else:</p>}
    </section>
  );
}

function Results({ hits, recollection, again }: { hits: Hit[]; recollection: Recollection; again: () => void }): JSX.Element {
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const pending = usePending();
  useEffect(() => setPicked(new Set()), [recollection]);
  const by = useMemo(() => new Map(recollection.hits.map((hit) => [hit.node.id, hit])), [recollection]);
  const starts = useMemo(() => new Map(recollection.hits.filter((hit) => hit.direct).map((hit) => [hit.node.id, hit.score])), [recollection]);
  const pick = (id: string, on: boolean): void => setPicked((before) => new Set(on ? [...before, id] : [...before].filter((one) => one !== id)));
  const shown = hits.filter((hit) => !pending.has(hit.node.id));
  return (
    <>
      <div class="results">
        {shown.map((hit) => (
          <HitCard
            key={hit.node.id}
            hit={hit}
            cue={recollection.cue}
            words={recollection.looked_for}
            hits={by}
            starts={starts}
            picked={picked.has(hit.node.id)}
            pick={(on) => pick(hit.node.id, on)}
          />
        ))}
      </div>
      <Selection nodes={shown.filter((hit) => picked.has(hit.node.id)).map((hit) => hit.node)} clear={() => setPicked(new Set())} again={again} />
    </>
  );
}

function AgentText({ text }: { text: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  return (
    <div class="agent-text">
      <p class="agent-bar">
        <span class="muted">What <code>memory_recall</code> and the command line say, within the budget.</span>
        <Button icon={copied ? "check" : "copy"} onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true), () => undefined)}>
          {copied ? "Copied" : "Copy"}
        </Button>
      </p>
      <pre tabIndex={0} aria-label="The answer as text">{text}</pre>
    </div>
  );
}

/** The view before the first search. */
function Welcome(): JSX.Element {
  const stats = useAsked("stats", (signal) => ask<Stats>("stats", {}, signal));
  const lately = useAsked("lately", (signal) => ask<{ nodes: Node[] }>("timeline", { limit: 20, kinds: ["atom"] }, signal));
  if (stats.loading) return <Loading what="this memory" rows={1} />;
  if (stats.problem) return <Failure problem={stats.problem} again={stats.again} />;
  if (!stats.data) return <></>;
  if (stats.data.nodes === 0) {
    return (
      <Empty title="This memory is empty">
        <p>Drop files here, press <kbd>n</kbd> to write the first memory, or take in a folder of notes with <code>cuetrail ingest FOLDER</code>.</p>
      </Empty>
    );
  }
  const { kinds, facts } = stats.data;
  const names = (kinds["person"] ?? 0) + (kinds["concept"] ?? 0) + (kinds["entity"] ?? 0);
  const figures: [string, number][] = [["notes and files", kinds["source"] ?? 0], ["passages", kinds["atom"] ?? 0], ["names", names], ["facts", facts]];
  return (
    <div class="welcome">
      <dl class="figures">
        {figures.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      <SavedSearches />
      {lately.data && lately.data.nodes.length > 0 && (
        <section class="lately" aria-label="Lately">
          <header class="list-head">
            <h2>Lately</h2>
            <a class="muted" href={link("timeline")}>the whole timeline</a>
          </header>
          <div class="lately-cards">
            {lately.data.nodes.filter((node) => !isHeading(node)).slice(0, 6).map((node) => (
              <article class="card" key={node.id}>
                <MemoryHead node={node} most={240} />
              </article>
            ))}
          </div>
        </section>
      )}
      <p class="muted keys-hint">
        Press <kbd>/</kbd> to search, <kbd>j</kbd> and <kbd>k</kbd> to go through what is found, <kbd>w</kbd> for why, <kbd>?</kbd> for all keys.
      </p>
    </div>
  );
}
