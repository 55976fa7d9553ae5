/** Suggestions under the search field: titles, names, tags and buckets that continue what is typed. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { view } from "../api";
import { count, plain } from "../words";
import { Icon, type IconName } from "./basics";

export interface Suggestion {
  kind: string;
  text: string;
  id: string | null;
  nodes: number | null;
}

const PAUSE = 120;
/** No title is looked for in what is longer than this: it is a question. */
const MOST_WORDS = 5;
const isQuestion = (text: string): boolean => text.trim().split(/\s+/).length > MOST_WORDS && !/(^|\s)[#@]\S*$/.test(text);
export const LIST = "suggestions";

/** The text with a suggestion taken: a label replaces its beginning, a title all of it. */
export function completed(text: string, taken: Suggestion): string {
  if (taken.id !== null) return taken.text;
  const sign = taken.kind === "bucket" ? "@" : "#";
  return `${text.replace(/\S*$/, "")}${sign}${taken.text} `;
}

export interface Suggesting {
  found: Suggestion[];
  /** The number of the chosen one, -1 for none. */
  at: number;
  move: (by: number) => boolean;
  close: () => void;
}

/** Asks for suggestions while `text` is typed; only the answer to the last text counts. */
export function useSuggestions(text: string, typed: boolean): Suggesting {
  const [found, setFound] = useState<Suggestion[]>([]);
  const [at, setAt] = useState(-1);
  const closed = useRef("");
  useEffect(() => {
    setAt(-1);
    if (!typed || !text.trim() || isQuestion(text) || closed.current === text) return setFound([]);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      view<{ suggestions: Suggestion[] }>("suggest", { text }, stop.signal).then(
        ({ suggestions }) => setFound(suggestions.filter((one) => one.text.toLowerCase() !== text.trim().toLowerCase())),
        () => setFound([]),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, typed]);
  return {
    found,
    at,
    move: (by) => {
      if (!found.length) return false;
      setAt((at + by + found.length + 1 + 1) % (found.length + 1) - 1);
      return true;
    },
    close: () => {
      closed.current = text;
      setFound([]);
      setAt(-1);
    },
  };
}

const ICONS: Record<string, IconName> = { tag: "tag", bucket: "browse", source: "file", person: "you" };

export function SuggestionList({ found, at, take }: { found: Suggestion[]; at: number; take: (one: Suggestion) => void }): JSX.Element {
  return (
    <ul id={LIST} role="listbox" aria-label="Suggestions" class="suggestions" hidden={!found.length}>
      {found.map((one, number) => (
        <li
          key={`${one.kind} ${one.id ?? one.text}`}
          id={`${LIST}-${number}`}
          role="option"
          aria-selected={number === at}
          // Before the field loses the focus, which closes the list.
          onMouseDown={(event) => {
            event.preventDefault();
            take(one);
          }}
        >
          <Icon name={ICONS[one.kind] ?? "search"} />
          <span class="suggested">{one.text}</span>
          <span class="muted">{one.nodes !== null ? `${one.kind}, ${count(one.nodes)}` : one.kind === "source" ? "note" : plain(one.kind)}</span>
        </li>
      ))}
    </ul>
  );
}
