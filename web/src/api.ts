/** What the server says, and how it is asked: every verb is `POST v1/VERB` with its arguments as JSON. */

export type Provenance = "internal" | "external" | "quarantine";

export interface Node {
  id: string;
  kind: string;
  name: string | null;
  text: string;
  aliases: string[];
  tags: string[];
  buckets: string[];
  source: string | null;
  seq: number;
  at: number;
  provenance: Provenance;
  props: Record<string, unknown>;
  state: "candidate" | "active" | "core" | "archived";
  salience: number;
}

/** One step of energy along an edge. */
export interface Hop {
  src: string;
  dst: string;
  energy: number;
  edge: string;
  kind: string;
  weight: number | null;
  tags: string[];
  outgoing: boolean;
}

/** One step along tags and buckets that two memories share. */
export interface LabelStep {
  src: string;
  dst: string;
  via: string[];
}

export interface FactLine {
  text: string;
  score: number;
  fact: Fact;
  why: { anchor: string; hop: number; path: string[]; direction: string; parts: Record<string, number> };
}

export interface Why {
  role?: "anchor" | "walker";
  anchors?: string[];
  found_by?: string[];
  parts?: Record<string, number | null>;
  tag_boost?: boolean;
  tags?: string[];
  terms?: string[];
  shared?: { what: "tag" | "bucket"; name: string; idf: number }[];
  path?: (Hop | LabelStep)[];
  lines?: FactLine[];
}

export interface Hit {
  node: Node;
  score: number;
  /** Whether the cue itself found it, and not a way from something else. */
  direct: boolean;
  why: Why;
}

export interface Recollection {
  cue: string;
  text: string;
  answerable: boolean;
  looked_for: string[];
  notices: string[];
  attempt: string;
  anchors: string[];
  walkers: string[];
  hits: Hit[];
}

export interface Activation {
  seed: string;
  score: number;
  reason: string;
  error: string | null;
  tags: string[];
  depth: number;
  paths: Hop[][];
}

export interface Fact {
  id: string;
  subject: string;
  predicate: string;
  object: string | null;
  value: string | null;
  confidence: number;
  status: "staged" | "confirmed" | "superseded" | "retracted";
  source: string;
  created: number;
  valid_from: number | null;
  valid_until: number | null;
}

export interface Stats {
  nodes: number;
  edges: number;
  facts: number;
  tags: number;
  kinds: Record<string, number>;
  buckets: Record<string, number>;
  embedder: string | null;
}

/** A request that was not answered: why, and what to do, in the server's words. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

const TOKEN = "cuetrail.token";
let onTokenNeeded: (wrong: boolean) => void = () => undefined;

/** Who is told when the server wants a token that it was not given. */
export function whenTokenIsNeeded(tell: (wrong: boolean) => void): void {
  onTokenNeeded = tell;
}

/** Keep a token for this tab, or for this browser; an empty one is given up. */
export function keepToken(token: string, forLong: boolean): void {
  sessionStorage.removeItem(TOKEN);
  localStorage.removeItem(TOKEN);
  if (token) (forLong ? localStorage : sessionStorage).setItem(TOKEN, token);
}

export function keptToken(): string {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN) ?? "";
}

/** What a verb answers. Throws Problem. */
export function ask<T>(verb: string, given: object = {}, signal?: AbortSignal): Promise<T> {
  return post<T>(`v1/${verb}`, given, signal);
}

/** The same for verbs that answer with a list or a single value. */
export async function askFor<T>(verb: string, given: object = {}, signal?: AbortSignal): Promise<T> {
  return (await post<{ result: T }>(`v1/${verb}`, given, signal)).result;
}

/** What the server puts together for this page alone. */
export function view<T>(name: string, given: object = {}, signal?: AbortSignal): Promise<T> {
  return post<T>(`view/${name}`, given, signal);
}

/** How far a verb that takes long is; `total` is 0 where nobody knows. */
export interface Progress {
  step: string;
  done: number;
  total: number;
}

/** All that a verb answers, one after the other as it comes; `tell` hears of each, and of how far it is. Throws Problem. */
export async function follow<T>(verb: string, given: object, tell: (found: T[], progress?: Progress) => void, signal?: AbortSignal): Promise<T[]> {
  const found: T[] = [];
  const response = await send(`v1/${verb}`, given, "text/event-stream", signal);
  for await (const { event, data } of eventsOf(response)) {
    if (event === "problem") throw new Problem(500, detailOf(data) ?? "It failed on the way.");
    if (event === "end") return found;
    if (event === "result") found.push(data as T);
    tell(found, event === "progress" ? (data as Progress) : undefined);
  }
  throw new Problem(0, "The answer ended in the middle. Is `cuetrail serve` still running?");
}

/** Server-sent events as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<{ event: string; data: unknown }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (reader) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (text + value).split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const [, event] = /^event: (.*)$/m.exec(part) ?? [];
      const [, data] = /^data: (.*)$/m.exec(part) ?? [];
      if (event && data) yield { event, data: JSON.parse(data) as unknown };
    }
  }
}

async function post<T>(path: string, given: object, signal?: AbortSignal): Promise<T> {
  const response = await send(path, given, "application/json", signal);
  return (await response.json()) as T;
}

/** The response to a request that was answered. Throws Problem for one that was not. */
async function send(path: string, given: object, accept: string, signal?: AbortSignal): Promise<Response> {
  const token = keptToken();
  const headers: Record<string, string> = { "Content-Type": "application/json", Accept: accept };
  if (token) headers["Authorization"] = `Bearer ${token}`;
  let response: Response;
  try {
    response = await fetch(path, { method: "POST", headers, body: JSON.stringify(given), signal: signal ?? null });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "The server cannot be reached. Is `cuetrail serve` still running?");
  }
  if (response.ok) return response;
  if (response.status === 401) onTokenNeeded(token !== "");
  const body: unknown = await response.json().catch(() => null);
  throw new Problem(response.status, detailOf(body) ?? `The server answered ${response.status}.`);
}

function detailOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("detail" in body)) return undefined;
  return typeof body.detail === "string" ? body.detail : undefined;
}
