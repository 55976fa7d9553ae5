/** The REST client: every verb is `POST v1/VERB` with its arguments as JSON. Types of the results. */

export type Provenance = "internal" | "external" | "quarantine";

export interface Node {
  id: string;
  kind: string;
  name: string | null;
  text: string;
  aliases: string[];
  /** Tags that people gave. */
  tags: string[];
  /** Tags that rules gave. */
  automatic_tags: string[];
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
  /** The id of the title that the question names, if this is about it. */
  topic?: string;
}

export interface Hit {
  node: Node;
  score: number;
  /** True for a direct match of the cue, false for a related result. */
  direct: boolean;
  /** What no longer holds of the text, such as "superseded 2026-03-02: lives in Lisbon"; else empty. */
  mark: string;
  why: Why;
  /** True if the text shows only the beginning of it. */
  cut: boolean;
  /** Other passages of the same note or conversation. */
  more: Hit[];
}

/** A current fact that leads the answer. */
export interface RecalledFact {
  line: string;
  subject: string;
  predicate: string;
  object: string;
  source: string | null;
  since: number;
  score: number;
  fact: Fact;
}

export interface Recollection {
  cue: string;
  text: string;
  answerable: boolean;
  confidence: number;
  looked_for: string[];
  notices: string[];
  attempt: string;
  anchors: string[];
  walkers: string[];
  facts: RecalledFact[];
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
  source_ref: string | null;
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
  reranker: string | null;
}

/** A failed request: the reason and what to do, from the server. */
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

/** The callback for requests that need a token. */
export function whenTokenIsNeeded(tell: (wrong: boolean) => void): void {
  onTokenNeeded = tell;
}

/** Stores a token for this tab or this browser; an empty one removes it. */
export function keepToken(token: string, forLong: boolean): void {
  sessionStorage.removeItem(TOKEN);
  localStorage.removeItem(TOKEN);
  if (token) (forLong ? localStorage : sessionStorage).setItem(TOKEN, token);
}

export function keptToken(): string {
  return sessionStorage.getItem(TOKEN) ?? localStorage.getItem(TOKEN) ?? "";
}

/** Returns the result of a verb. Throws Problem. */
export function ask<T>(verb: string, given: object = {}, signal?: AbortSignal): Promise<T> {
  return post<T>(`v1/${verb}`, given, signal);
}

/** Returns the result of a verb whose result is a list or a single value. */
export async function askFor<T>(verb: string, given: object = {}, signal?: AbortSignal): Promise<T> {
  return (await post<{ result: T }>(`v1/${verb}`, given, signal)).result;
}

/** Returns a view: data that only this page uses. */
export function view<T>(name: string, given: object = {}, signal?: AbortSignal): Promise<T> {
  return post<T>(`view/${name}`, given, signal);
}

/** Ingests a file under the name of its `source`. Throws Problem. */
export async function upload(source: string, file: Blob): Promise<IngestReport> {
  const response = await send(`v1/ingest?${new URLSearchParams({ source }).toString()}`, file, "application/json");
  return (await response.json()) as IngestReport;
}

export interface IngestReport {
  added: number;
  kept: number;
  forgotten: number;
  errors: { path: string; error: string }[];
  notices: string[];
}

/** The progress of a long verb; `total` is 0 if unknown. */
export interface Progress {
  step: string;
  done: number;
  total: number;
}

/** Returns all results of a verb; `tell` is called for each result and for progress. Throws Problem. */
export async function follow<T>(verb: string, given: object, tell: (found: T[], progress?: Progress) => void, signal?: AbortSignal): Promise<T[]> {
  const found: T[] = [];
  const response = await send(`v1/${verb}`, given, "text/event-stream", signal);
  for await (const { event, data } of eventsOf(response)) {
    if (event === "problem") throw new Problem(500, detailOf(data) ?? "It failed.");
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

/** Sends a request and returns the response. Throws Problem if it failed. */
async function send(path: string, given: object, accept: string, signal?: AbortSignal): Promise<Response> {
  const token = keptToken();
  const bytes = given instanceof Blob;
  // The last one says that a person reads the answer: it is not counted as handed to an agent.
  const headers: Record<string, string> = { "Content-Type": bytes ? "application/octet-stream" : "application/json", Accept: accept, "X-Cuetrail-Page": "1" };
  if (token) headers["Authorization"] = `Bearer ${token}`;
  let response: Response;
  try {
    response = await fetch(path, { method: "POST", headers, body: bytes ? given : JSON.stringify(given), signal: signal ?? null });
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
