/** Forgetting with time to undo: the request is sent after a countdown, or when the page is left. */

import { useEffect, useState } from "preact/hooks";

import { askFor, keptToken } from "./api";
import { asProblem } from "./hooks";
import { unlearn } from "./parts/known";
import { many } from "./words";

export const SECONDS = 10;

export interface Doing {
  number: number;
  ids: string[];
  title: string;
  /** The files on the disk that will still hold the text. */
  files: string[];
  /** When the request is sent; null if it has been. */
  until: number | null;
  /** What came of it; "" while nothing has. */
  outcome: string;
  failed: boolean;
}

let doing: Doing[] = [];
let last = 0;
const timers = new Map<number, ReturnType<typeof setTimeout>>();
const CHANGED = "cuetrail-forgetting";

function change(number: number, changed: Partial<Doing> | null): void {
  doing = changed === null ? doing.filter((one) => one.number !== number) : doing.map((one) => (one.number === number ? { ...one, ...changed } : one));
  dispatchEvent(new Event(CHANGED));
}

/** Begins the countdown. */
export function forgetLater(ids: string[], title: string, files: string[]): void {
  last += 1;
  const number = last;
  doing = [...doing, { number, ids, title, files, until: Date.now() + 1000 * SECONDS, outcome: "", failed: false }];
  timers.set(number, setTimeout(() => void send(number), 1000 * SECONDS));
  dispatchEvent(new Event(CHANGED));
}

async function send(number: number): Promise<void> {
  const one = doing.find((each) => each.number === number);
  if (!one || one.until === null) return;
  timers.delete(number);
  change(number, { until: null });
  try {
    const gone = await askFor<string[]>("forget", { ids: one.ids });
    one.ids.forEach(unlearn);
    change(number, { outcome: `Forgotten: ${many(gone.length, "memory", "memories")}.` });
  } catch (error) {
    change(number, { ids: [], outcome: asProblem(error).message, failed: true });
  }
}

/** Stops a countdown; nothing is forgotten. */
export function undo(number: number): void {
  clearTimeout(timers.get(number));
  timers.delete(number);
  change(number, null);
}

/** Stops the newest countdown. True if there was one. */
export function undoLast(): boolean {
  const one = doing.findLast((each) => each.until !== null);
  if (one) undo(one.number);
  return one !== undefined;
}

export const dismiss = (number: number): void => change(number, null);

export function useForgetting(): Doing[] {
  const [shown, setShown] = useState(doing);
  useEffect(() => {
    const follow = (): void => setShown(doing);
    follow();
    addEventListener(CHANGED, follow);
    return () => removeEventListener(CHANGED, follow);
  }, []);
  return shown;
}

/** The ids that are being forgotten or are gone. */
export const usePending = (): Set<string> => new Set(useForgetting().flatMap((one) => one.ids));

// Who leaves the page no longer wants to undo.
addEventListener("pagehide", () => {
  for (const one of doing.filter((each) => each.until !== null)) {
    const token = keptToken();
    const headers = { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    void fetch("v1/forget", { method: "POST", headers, body: JSON.stringify({ ids: one.ids }), keepalive: true });
    change(one.number, { until: null });
  }
});
