/** The form of a search: one field with suggestions; recipe, budget and filters are under "Advanced". */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Button, Icon } from "../parts/basics";
import { completed, LIST, type Suggestion, SuggestionList, useSuggestions } from "../parts/suggest";
import { go, link, replaceWith } from "../route";
import { count } from "../words";

export const RECIPES = [
  ["trail", "Trail", "By words and meaning, then along names and links. The default."],
  ["tag-walk", "Tag walk", "By words, then along the tags and buckets of the results."],
  ["energy", "Energy", "By words and meaning, then by activation along edges."],
  ["narrative", "Narrative", "The people and things in the question, with their current facts."],
  ["explore", "Explore", "By relevance, freshness and how often it is used."],
] as const;

const BUDGETS = [500, 1000, 2000, 4000, 8000, 16000];
export const TABS = [
  ["hits", "Results"],
  ["graph", "Graph"],
  ["text", "As an agent reads it"],
] as const;

/** All parameters of a search, as in the URL. */
const FIELDS = ["q", "recipe", "budget", "tags", "buckets", "kinds", "since", "until", "fuzzy", "quarantined", "archived", "tab"] as const;
type Field = (typeof FIELDS)[number];
export type Form = Record<Field, string>;
const USUAL: Partial<Form> = { recipe: "trail", budget: "2000", tab: "hits" };

export function formOf(query: URLSearchParams): Form {
  const form = Object.fromEntries(FIELDS.map((field) => [field, query.get(field) ?? ""])) as Form;
  // A URL that was typed or comes from another version may have unknown values.
  const recipe = RECIPES.some(([name]) => name === form.recipe) ? form.recipe : "trail";
  const budget = /^[1-9]\d{0,6}$/.test(form.budget) ? form.budget : "2000";
  return { ...form, recipe, budget, tab: TABS.some(([name]) => name === form.tab) ? form.tab : "hits" };
}

export function addressOf(form: Form): string {
  return link("search", "", Object.fromEntries(Object.entries(form).filter(([name, value]) => USUAL[name as Field] !== value)));
}

const listed = (text: string): string[] => text.split(/[,\s]+/).map((word) => word.replace(/^[#@]/, "")).filter(Boolean);

/** The arguments of `recall`. */
export function argumentsOf(form: Form): object {
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

/** How many settings under "Advanced" differ from the usual ones. */
const settingsOf = (form: Form): number => FIELDS.filter((name) => name !== "q" && name !== "tab" && form[name] !== (USUAL[name] ?? "")).length;

/** Milliseconds without a key after which the results of what is typed are shown, and the fewest letters of it. */
const PAUSE = 80;
const LEAST = 3;

/** The form. `typing` is told the address of a search that is shown while it is typed, and "" when one was sent off. */
export function SearchForm({ form, typing }: { form: Form; typing: (address: string) => void }): JSX.Element {
  const [draft, setDraft] = useState(form);
  const [more, setMore] = useState(settingsOf(form) > 0);
  const [typed, setTyped] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const key = addressOf(form);
  const suggesting = useSuggestions(draft.q, typed);
  /** The address that this form led to: a draft that has gone on since stays. `live`: it is still being typed. */
  const own = useRef(key);
  const live = useRef(false);
  useEffect(() => {
    if (own.current !== key) {
      own.current = "";
      live.current = false;
      setDraft(form);
      setTyped(false);
    }
    if (!live.current) typing("");
  }, [key]);
  useEffect(() => {
    const next = { ...draft, q: draft.q.trim() };
    const address = addressOf(next);
    if (!typed || next.q.length < LEAST || next.tab !== "hits" || address === key) return undefined;
    const timer = setTimeout(() => {
      const first = !live.current;
      own.current = address;
      live.current = true;
      typing(address);
      // One entry in the browser's history for all that is typed.
      (first ? go : replaceWith)(address);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [draft.q, typed, key]);
  const change = (changed: Partial<Form>, now = false): void => {
    const next = { ...draft, ...changed };
    setDraft(next);
    if (now && next.q.trim()) go(addressOf(next));
  };
  const search = (next: Form): void => {
    suggesting.close();
    setTyped(false);
    const address = addressOf(next);
    own.current = address;
    live.current = false;
    // The results of what was typed are those that were asked for; else they come with the new address.
    if (address === key) typing("");
    go(address);
    field.current?.blur();
  };
  const take = (one: Suggestion): void => {
    const q = completed(draft.q, one);
    setDraft({ ...draft, q });
    if (one.id !== null) search({ ...draft, q });
  };
  const pressed = (event: KeyboardEvent): void => {
    const chosen = suggesting.found[suggesting.at];
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by && suggesting.move(by)) event.preventDefault();
    else if ((event.key === "Enter" || event.key === "Tab") && chosen) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === "Escape" && suggesting.found.length) {
      event.preventDefault();
      suggesting.close();
    }
  };
  const settings = settingsOf(draft);
  return (
    <form
      class="search-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        search(draft);
      }}
    >
      <div class="cue-row">
        <Icon name="search" />
        <input
          ref={field}
          id="cue"
          type="search"
          // Suggestions are a list of the page, not of the browser.
          list={undefined}
          role="combobox"
          aria-label="Search"
          aria-autocomplete="list"
          aria-expanded={suggesting.found.length > 0}
          aria-controls={LIST}
          {...(suggesting.at >= 0 ? { "aria-activedescendant": `${LIST}-${suggesting.at}` } : {})}
          placeholder="Ask a question, or type a name, “a phrase”, #tag or @bucket"
          autocomplete="off"
          value={draft.q}
          onInput={(event) => {
            setTyped(true);
            setDraft({ ...draft, q: event.currentTarget.value });
          }}
          onKeyDown={pressed}
          onBlur={suggesting.close}
        />
        <kbd class="hint" aria-hidden="true">/</kbd>
        <Button type="submit" look="strong">Search</Button>
        <SuggestionList found={suggesting.found} at={suggesting.at} take={take} />
      </div>
      <div class="how-row">
        <Button icon="filter" look="quiet" expanded={more} onClick={() => setMore(!more)}>
          Advanced{settings > 0 && ` (${settings})`}
        </Button>
      </div>
      {more && <Advanced draft={draft} change={change} />}
    </form>
  );
}

const budgets = (chosen: string): number[] => [...new Set([...BUDGETS, Number(chosen) || 2000])].sort((a, b) => a - b);

type Change = (changed: Partial<Form>, now?: boolean) => void;

function Advanced({ draft, change }: { draft: Form; change: Change }): JSX.Element {
  return (
    <div class="advanced">
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
      </div>
      <p class="recipe-said">{RECIPES.find(([name]) => name === draft.recipe)?.[2]}</p>
      <Filters draft={draft} change={change} />
    </div>
  );
}

function Filters({ draft, change }: { draft: Form; change: Change }): JSX.Element {
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
      <input type="checkbox" checked={draft[name] === "yes"} onChange={(event) => change({ [name]: event.currentTarget.checked ? "yes" : "" }, true)} />
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
