/** What views share: asking the server, and what the browser remembers. */

import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { Problem } from "./api";
import { apply, CHANGED, currentTheme, system } from "./theme";

export interface Asked<T> {
  data: T | undefined;
  problem: Problem | undefined;
  loading: boolean;
  /** Ask again; what was there stays until the answer comes. */
  again: () => void;
}

/** What a question answers; asked anew when `key` changes. A question that was overtaken is given up. */
export function useAsked<T>(key: string | null, question: (signal: AbortSignal) => Promise<T>): Asked<T> {
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
    setState((before) => ({ data: same ? before.data : undefined, problem: undefined, loading: true }));
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

/** Call `act` for keys that are pressed outside of fields; `act` says whether the key was for it. */
export function useKeys(act: (key: string, event: KeyboardEvent) => boolean): void {
  const latest = useRef(act);
  latest.current = act;
  // At once, not after it is painted: a key that is pressed then must not be lost.
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

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
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
