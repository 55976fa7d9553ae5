/** Numbers, times and titles as text for people. */

import type { Node } from "./api";
import { plainText } from "./markdown/parse";

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

/** The first words of a text on one line, without signs of Markdown. */
export function snippet(text: string, most = 90): string {
  // Long texts are not read to their end for a few words.
  const line = plainText(text.length > 2000 ? text.slice(0, 2000) : text);
  if (line.length <= most) return line;
  const cut = line.slice(0, most);
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > most / 2 ? space : most).replace(/[\s.,;:–-]+$/, "")}…`;
}

const textAt = (node: Pick<Node, "props">, name: string): string => {
  const value = node.props[name];
  return typeof value === "string" ? value.trim() : "";
};

/** The name of a memory, or the title of the note it is from; "" if it has neither. */
export const noteTitleOf = (node: Pick<Node, "name" | "props">): string => node.name ?? textAt(node, "title");

/** The headings above a passage, such as "Setup › Windows". */
export function headingOf(node: Pick<Node, "name" | "props">): string {
  const heading = node.name === null ? textAt(node, "heading") || textAt(node, "speaker") : "";
  const title = noteTitleOf(node);
  return heading === title ? "" : heading.startsWith(`${title} › `) ? heading.slice(title.length + 3) : heading;
}

/** The title of a memory on one line: its name, or its note and heading, or its first words. */
export function titleOf(node: Pick<Node, "id" | "name" | "text" | "props" | "kind" | "at">, most?: number): string {
  // A turn of a conversation is known by what is said in it.
  const speaker = node.name === null ? textAt(node, "speaker") : "";
  if (speaker) return `${speaker}: “${snippet(node.text.replace(/^[\p{L}\p{N} ]{1,30}: /u, ""), most && Math.max(20, most - speaker.length))}”`;
  const title = [noteTitleOf(node), headingOf(node)].filter(Boolean).join(" › ");
  if (!title) return snippet(node.text, most) || (node.kind === "episode" ? `Sitting of ${onShortDay(node.at)}` : node.id);
  return most !== undefined && title.length > most ? `${title.slice(0, most - 1).trimEnd()}…` : title;
}

/** Tags for dates and times. Dreams add them to every memory, so result cards leave them out. */
const TIMES =
  /^(\d{4}|q[1-4]|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|winter|spring|summer|autumn|morning|afternoon|evening|night)$/;

export const isTime = (tag: string): boolean => TIMES.test(tag);

/** A paragraph that is a heading of its file. */
export const isHeading = (node: Pick<Node, "text">): boolean => /^#{1,6} /.test(node.text);

/** Kinds as people call them. */
const KINDS: Record<string, string> = { atom: "passage", source: "note" };
export const kindOf = (kind: string): string => KINDS[kind] ?? plain(kind);

/** A kind or a key as a label: `tag_boost` is `tag boost`. */
export const plain = (name: string): string => name.replaceAll("_", " ");
