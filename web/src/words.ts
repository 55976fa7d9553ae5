/** Numbers, times and titles as text for people. */

import type { Node } from "./api";

const number = new Intl.NumberFormat(undefined);
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });
const shortDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const DAY = 86_400_000;

export const count = (value: number): string => number.format(value);

/** A number with its noun: `1 memory`, `2 memories`. */
export function many(value: number, one: string, more = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : more}`;
}

export const onDay = (at: number): string => day.format(at);
export const onShortDay = (at: number): string => shortDay.format(at);
export const atTime = (at: number): string => minute.format(at);
export const isoOf = (at: number): string => new Date(at).toISOString();

/** True if only the day of a memory is known. The day is the same in every time zone. */
export const isDay = (node: Pick<Node, "at" | "props">): boolean => node.props["day"] === true || node.at % DAY === 0;

/** The time of a memory in the local time zone. */
export function shownTime(node: Pick<Node, "at" | "props">): number {
  return isDay(node) ? node.at + 60_000 * new Date(node.at).getTimezoneOffset() : node.at;
}

/** How long ago a memory is, in words for the last weeks, else as a date. */
export function ago(node: Pick<Node, "at" | "props">, now = Date.now()): string {
  const at = shownTime(node);
  const days = Math.round((startOfDay(at) - startOfDay(now)) / DAY);
  if (days === 0 && !isDay(node)) return minute.format(at);
  return Math.abs(days) < 14 ? relative.format(days, "day") : shortDay.format(at);
}

export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** How long something took. */
export const taken = (ms: number): string => (ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`);

/** An energy or a score with three significant digits, without exponent. */
export function energy(value: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) >= 100) return number.format(Math.round(value));
  return value.toFixed(Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3);
}

/** A text without Markdown signs, and without line breaks inside a sentence. */
export function readable(text: string): string {
  return text
    .replace(/^#{1,6} +/gm, "")
    .replace(/^([ \t]*)[-*+] +/gm, "$1• ")
    .replace(/\[\[([^\]|]+)\|([^\]]+)\]\]/g, "$2")
    .replace(/\[\[([^\]]+)\]\]/g, "$1")
    .replace(/^([^\n]{60,})\n(?=[\p{L}\p{N}("“'‘])/gmu, "$1 ");
}

/** The first words of a text on one line. */
export function snippet(text: string, most = 90): string {
  const line = readable(text)
    .replace(/^[ \t]*\|[-:| \t]+$/gm, "")
    .replace(/^[ \t]*\|.*$/gm, (row) => row.split("|").map((cell) => cell.trim()).filter(Boolean).join(", "))
    .replace(/\s+/g, " ")
    .replace(/^ ?• /, "")
    .trim();
  if (line.length <= most) return line;
  const cut = line.slice(0, most);
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > most / 2 ? space : most).replace(/[\s.,;:–-]+$/, "")}…`;
}

export const titleOf = (node: Pick<Node, "id" | "name" | "text">, most?: number): string =>
  node.name ?? (snippet(node.text, most) || node.id);

/** Tags for dates and times. Dreams add them to every memory, so result cards leave them out. */
const TIMES =
  /^(\d{4}|q[1-4]|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|winter|spring|summer|autumn|morning|afternoon|evening|night)$/;

export const isTime = (tag: string): boolean => TIMES.test(tag);

/** A paragraph that is a heading of its file. */
export const isHeading = (node: Pick<Node, "text">): boolean => /^#{1,6} /.test(node.text);

/** A kind or a key as a label: `tag_boost` is `tag boost`. */
export const plain = (name: string): string => name.replaceAll("_", " ");
