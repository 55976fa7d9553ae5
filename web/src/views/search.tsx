/** Search: a cue, a recipe and filters; direct and related results side by side. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { ask, type Hit, type Node, type Recollection, type Stats } from "../api";
import { useAsked, useTitle } from "../hooks";
import { Button, Empty, Failure, Icon, Loading, Told } from "../parts/basics";
import { HitCard, MemoryHead } from "../parts/hit";
import { learn } from "../parts/known";
import { go, link, type Route } from "../route";
import { count, isHeading, many, taken, titleOf } from "../words";
import { GraphView } from "./graph";

const RECIPES = [
  ["trail", "Trail", "By words and meaning, then along names and links. The default."],
  ["tag-walk", "Tag walk", "By words, then along the tags and buckets of the results."],
  ["energy", "Energy", "By words and meaning, then by activation along edges."],
  ["narrative", "Narrative", "The people and things in the cue, with their current facts."],
  ["explore", "Explore", "By relevance, freshness and how often it is used."],
] as const;

const BUDGETS = [500, 1000, 2000, 4000, 8000, 16000];
const TABS = [
  ["hits", "Memories"],
  ["graph", "Graph"],
  ["text", "As an agent reads it"],
] as const;

/** All parameters of a search, as in the URL. */
const FIELDS = ["q", "recipe", "budget", "tags", "buckets", "kinds", "since", "until", "fuzzy", "quarantined", "archived", "tab"] as const;
type Field = (typeof FIELDS)[number];
type Form = Record<Field, string>;

function formOf(query: URLSearchParams): Form {
  const form = Object.fromEntries(FIELDS.map((field) => [field, query.get(field) ?? ""])) as Form;
  // A URL that was typed or comes from another version may have unknown values.
  const recipe = RECIPES.some(([name]) => name === form.recipe) ? form.recipe : "trail";
  const budget = /^[1-9]\d{0,6}$/.test(form.budget) ? form.budget : "2000";
  return { ...form, recipe, budget, tab: TABS.some(([name]) => name === form.tab) ? form.tab : "hits" };
}

function addressOf(form: Form): string {
  const usual: Partial<Form> = { recipe: "trail", budget: "2000", tab: "hits" };
  return link("search", "", Object.fromEntries(Object.entries(form).filter(([name, value]) => usual[name as Field] !== value)));
}

const listed = (text: string): string[] => text.split(/[,\s]+/).map((word) => word.replace(/^[#@]/, "")).filter(Boolean);

/** The arguments of `recall`. */
function argumentsOf(form: Form): object {
  return {
    cue: form.q,
    recipe: form.recipe,
    budget: Number(form.budget),
    tags: listed(form.tags),
    buckets: listed(form.buckets),
    kinds: listed(form.kinds),
    since: form.since || null,
    until: form.until || null,
    fuzzy: form.fuzzy === "yes",
    include_quarantined: form.quarantined === "yes",
    include_archived: form.archived === "yes",
  };
}

export function SearchView({ route }: { route: Route }): JSX.Element {
  const form = formOf(route.query);
  const asked = JSON.stringify(argumentsOf(form));
  useTitle(form.q || "Search");
  const found = useAsked(form.q.trim() ? asked : null, async (signal) => {
    const begun = performance.now();
    const recollection = await ask<Recollection>("recall", argumentsOf(form), signal);
    learn(recollection.hits.map((hit) => hit.node));
    return { recollection, ms: performance.now() - begun };
  });
  return (
    <div class="search">
      <SearchForm form={form} />
      {!form.q.trim() && <Welcome />}
      {found.loading && <Loading what="what was found" rows={4} />}
      {found.problem && <Failure problem={found.problem} again={found.again} />}
      {found.data && <Found {...found.data} form={form} />}
    </div>
  );
}

function SearchForm({ form }: { form: Form }): JSX.Element {
  const [draft, setDraft] = useState(form);
  const [more, setMore] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const key = addressOf(form);
  useEffect(() => setDraft(form), [key]);
  const change = (changed: Partial<Form>, now = false): void => {
    const next = { ...draft, ...changed };
    setDraft(next);
    if (now && next.q.trim()) go(addressOf(next));
  };
  const filters = (["tags", "buckets", "kinds", "since", "until", "fuzzy", "quarantined", "archived"] as const).filter((name) => form[name]).length;
  return (
    <form
      class="search-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        go(addressOf(draft));
        field.current?.blur();
      }}
    >
      <div class="cue-row">
        <Icon name="search" />
        <input
          ref={field}
          id="cue"
          type="search"
          aria-label="Cue"
          placeholder="Ask, or name something: words, “phrases”, #tag, @bucket"
          autocomplete="off"
          value={draft.q}
          onInput={(event) => setDraft({ ...draft, q: event.currentTarget.value })}
        />
        <kbd class="hint" aria-hidden="true">/</kbd>
        <Button type="submit" look="strong">Recall</Button>
      </div>
      <div class="how-row">
        <fieldset class="segments">
          <legend class="unseen">Recipe</legend>
          {RECIPES.map(([name, title, said]) => (
            <label key={name} title={said}>
              <input type="radio" name="recipe" value={name} checked={draft.recipe === name} onChange={() => change({ recipe: name }, true)} />
              <span>{title}</span>
            </label>
          ))}
        </fieldset>
        <label class="field-inline">
          Budget
          <select value={draft.budget} onChange={(event) => change({ budget: event.currentTarget.value }, true)}>
            {budgets(draft.budget).map((tokens) => (
              <option key={tokens} value={String(tokens)}>{count(tokens)} tokens</option>
            ))}
          </select>
        </label>
        <Button icon="filter" look="quiet" expanded={more} onClick={() => setMore(!more)}>
          Filters{filters > 0 && ` (${filters})`}
        </Button>
      </div>
      <p class="recipe-said">{RECIPES.find(([name]) => name === draft.recipe)?.[2]}</p>
      {more && <Filters draft={draft} change={change} />}
    </form>
  );
}

const budgets = (chosen: string): number[] => [...new Set([...BUDGETS, Number(chosen) || 2000])].sort((a, b) => a - b);

function Filters({ draft, change }: { draft: Form; change: (changed: Partial<Form>) => void }): JSX.Element {
  const words = (name: "tags" | "buckets" | "kinds", label: string, hint: string): JSX.Element => (
    <label class="field">
      {label}
      <input value={draft[name]} placeholder={hint} onInput={(event) => change({ [name]: event.currentTarget.value })} />
    </label>
  );
  const day = (name: "since" | "until", label: string): JSX.Element => (
    <label class="field">
      {label}
      <input type="date" value={draft[name]} onInput={(event) => change({ [name]: event.currentTarget.value })} />
    </label>
  );
  const flag = (name: "fuzzy" | "quarantined" | "archived", label: string): JSX.Element => (
    <label class="check">
      <input type="checkbox" checked={draft[name] === "yes"} onChange={(event) => change({ [name]: event.currentTarget.checked ? "yes" : "" })} />
      {label}
    </label>
  );
  return (
    <div class="filters">
      {words("tags", "Tags", "radio, counts")}
      {words("buckets", "Buckets", "field")}
      {words("kinds", "Kinds", "atom, person")}
      {day("since", "Since")}
      {day("until", "Until")}
      <div class="checks">
        {flag("fuzzy", "Forgive typos")}
        {flag("quarantined", "With quarantined")}
        {flag("archived", "With archived")}
      </div>
    </div>
  );
}

function Found({ recollection, ms, form }: { recollection: Recollection; ms: number; form: Form }): JSX.Element {
  const anchors = recollection.hits.filter((hit) => hit.direct);
  const walkers = recollection.hits.filter((hit) => !hit.direct);
  return (
    <section class="found" aria-label="What was found">
      <div class="found-head">
        <p role="status">
          {recollection.answerable
            ? `${many(anchors.length, "direct hit")}, ${many(walkers.length, "associated memory", "associated memories")} in ${taken(ms)}`
            : "Nothing was found"}
          {recollection.attempt !== "full" && recollection.answerable && `, the cue read by its ${recollection.attempt}`}
        </p>
        <nav class="tabs" aria-label="Ways to look at it">
          {TABS.map(([name, title]) => (
            <a key={name} href={addressOf({ ...form, tab: name })} aria-current={form.tab === name ? "page" : undefined}>{title}</a>
          ))}
        </nav>
      </div>
      {recollection.notices.map((notice) => (
        <p class="notice" key={notice}><Told text={notice} /></p>
      ))}
      {form.tab === "hits" && recollection.facts.length > 0 && (
        <ul class="card facts" aria-label="Current facts">
          {recollection.facts.map((one) => (
            <li key={one.fact.id}>{one.line}</li>
          ))}
        </ul>
      )}
      {form.tab === "graph" ? (
        <GraphView cue={form.q} />
      ) : !recollection.answerable ? (
        <Nothing recollection={recollection} />
      ) : form.tab === "text" ? (
        <AgentText text={recollection.text} />
      ) : (
        <Lists anchors={anchors} walkers={walkers} recollection={recollection} />
      )}
    </section>
  );
}

function Nothing({ recollection }: { recollection: Recollection }): JSX.Element {
  return (
    <Empty title="Nothing is remembered on this">
      {recollection.looked_for.length > 0 && <p>Looked for: {recollection.looked_for.join(", ")}.</p>}
      {recollection.hits[0] && (
        <p>
          The nearest memory, which may be about something else:{" "}
          <a href={link("node", recollection.hits[0].node.id)}>{titleOf(recollection.hits[0].node, 110)}</a>
        </p>
      )}
      <p>Try fewer or other words, forgive typos in the filters, or another recipe.</p>
    </Empty>
  );
}

interface ListsProps {
  anchors: Hit[];
  walkers: Hit[];
  recollection: Recollection;
}

function Lists({ anchors, walkers, recollection }: ListsProps): JSX.Element {
  const starts = useMemo(() => new Map(anchors.map((hit) => [hit.node.id, hit.score])), [recollection]);
  const list = (title: string, said: string, hits: Hit[], look: string): JSX.Element => (
    <section class={`list ${look}`} aria-label={title}>
      <header class="list-head">
        <h2>{title}</h2>
        <span class="muted">{said}</span>
      </header>
      {hits.map((hit) => (
        <HitCard key={hit.node.id} hit={hit} cue={recollection.cue} words={recollection.looked_for} starts={starts} best={Math.max(...hits.map((one) => one.score))} />
      ))}
      {hits.length === 0 && <p class="none">Nothing beyond the direct hits.</p>}
    </section>
  );
  return (
    <div class={`lists ${walkers.length ? "" : "alone"}`}>
      {list("Found directly", "the cue finds these", anchors, "anchors")}
      {list("Associated", "reached from there", walkers, "walkers")}
    </div>
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
        <p>Take in a folder of notes with <code>cuetrail ingest FOLDER</code>, or press <kbd>n</kbd> to write the first memory here.</p>
      </Empty>
    );
  }
  const { nodes, edges, facts, tags } = stats.data;
  return (
    <div class="welcome">
      <dl class="figures">
        {([["memories", nodes], ["edges", edges], ["facts", facts], ["tags", tags]] as const).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{count(value)}</dd>
          </div>
        ))}
      </dl>
      {lately.data && lately.data.nodes.length > 0 && (
        <section class="lately" aria-label="Lately">
          <header class="list-head">
            <h2>Lately</h2>
            <a class="muted" href={link("timeline")}>the whole timeline</a>
          </header>
          <div class="lately-cards">
            {lately.data.nodes.filter((node) => !isHeading(node)).slice(0, 6).map((node) => (
              <article class="card" key={node.id}>
                <MemoryHead node={node} />
              </article>
            ))}
          </div>
        </section>
      )}
      <p class="muted">
        Press <kbd>/</kbd> to search, <kbd>j</kbd> and <kbd>k</kbd> to go through what is found, <kbd>w</kbd> for why, <kbd>?</kbd> for all keys.
      </p>
    </div>
  );
}
