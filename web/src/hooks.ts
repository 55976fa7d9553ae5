/** Hooks of all views: requests to the server, and values stored in the browser. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Problem } from "./api";
import { apply, CHANGED, currentTheme, system } from "./theme";

export interface Asked<T> {
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  /** Loads again; the old result stays until the new one arrives. */
  again: () => void;
}

/** Loads a result, again when `key` changes. An outdated request is cancelled. With `keep` the old result stays until then. */
export function useAsked<T>(key: string | null, question: (signal: AbortSignal) => Promise<T>, keep = false): Asked<T> {
  const [state, setState] = useState<Omit<Asked<T>, "again">>({ data: undefined, problem: undefined, loading: key !== null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(question);
  const shown = useRef<string | null>(null);
  latest.current = question;
  useEffect(() => {
    if (key === null) {
      setState({ data: undefined, problem: undefined, loading: false });
      return;
    }
    const stop = new AbortController();
    const same = shown.current === key;
    shown.current = key;
    setState((before) => ({ data: same || keep ? before.data : undefined, problem: undefined, loading: true }));
    latest.current(stop.signal).then(
      (data) => stop.signal.aborted || setState({ data, problem: undefined, loading: false }),
      (error: unknown) => {
        if (!stop.signal.aborted) setState({ data: undefined, problem: asProblem(error), loading: false });
      },
    );
    return () => stop.abort();
  }, [key, turn]);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, again };
}

export function asProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(0, error instanceof Error ? error.message : String(error));
}

/** Calls `act` for keys pressed outside of fields; `act` returns true if it handled the key. */
export function useKeys(act: (key: string, event: KeyboardEvent) => boolean): void {
  const latest = useRef(act);
  latest.current = act;
  // Before the next paint, so that no key press is lost.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      if (latest.current(event.key, event)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** Choices, such as radio buttons, keep the focus after a click but take no letters. */
const CHOICES = /^(?:radio|checkbox|range|button|submit)$/;

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return !CHOICES.test(target.type);
  return target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · cuetrail` : "cuetrail";
  }, [title]);
}

/** The theme that is shown now. */
export function useTheme(): "light" | "dark" {
  const [theme, setTheme] = useState(currentTheme);
  useEffect(() => {
    const follow = (): void => {
      apply();
      setTheme(currentTheme());
    };
    addEventListener(CHANGED, follow);
    system.addEventListener("change", follow);
    return () => {
      removeEventListener(CHANGED, follow);
      system.removeEventListener("change", follow);
    };
  }, []);
  return theme;
}
