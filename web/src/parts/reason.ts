/** Why a memory was found, in one plain sentence. */

import type { Hit, Hop, LabelStep, Node } from "../api";
import { noteTitleOf, plain, titleOf } from "../words";
import { knownNode } from "./known";
import { matched } from "./matches";

export const isHop = (step: Hop | LabelStep): step is Hop => "energy" in step;

const listed = new Intl.ListFormat("en-GB", { type: "conjunction" });
/** The title of a memory; a sign in its place until it is loaded. */
const short = (node: Node | undefined): string => (node ? titleOf(node, 60) : "…");

/** The text, title and names of a memory, in which words are looked for. */
export const everything = (node: Node): string =>
  [node.text, node.name ?? "", ...node.aliases, String(node.props["title"] ?? ""), String(node.props["heading"] ?? "")].join("\n");

/** The sentence for a result; `words` are those of the question, `direct` the ids of the direct matches. */
export function reasonOf(hit: Hit, words: string[], hits: Map<string, Hit>): string {
  const { why, node } = hit;
  if (why.topic) return "It is what you asked for by name.";
  const path = why.path ?? [];
  if (hit.direct || !path.length) return `${directly(hit, words)}.`;
  const last = path.at(-1)!;
  if (!isHop(last)) return `Shares ${listed.format(last.via)} with ${short(knownNode(last.src))}${known(last.src, path.slice(0, -1), words, hits)}.`;
  const below = last.kind === "title" && path.length > 1;
  const step = below ? path.at(-2)! : last;
  const before = path.slice(0, below ? -2 : -1);
  if (!isHop(step)) return `${directly(hit, words)}.`;
  const target = below ? knownNode(step.dst) : node;
  return `${below ? "Its note: " : ""}${stepSaid(step, target, why.found_by ?? [])}${known(step.src, before, words, hits)}.`;
}

function directly(hit: Hit, words: string[]): string {
  const by = hit.why.found_by ?? [];
  const has = matched(words, everything(hit.node));
  if (by.includes("facts")) return "Current facts about a name in your question";
  if (has.length > 3 && has.length === words.length) return "Has all your words";
  if (has.length) return `Has your ${has.length === 1 ? "word" : "words"} ${listed.format(has.map((word) => `“${word}”`))}`;
  if (by.includes("named") || by.includes("name")) return "Its name is in your question";
  if (by.includes("when")) return "From the time in your question";
  if (by.includes("labels")) return "Has the tags and buckets of your question";
  return "Close in meaning to your question";
}

/** A name as the texts write it; the path has it in lower case. */
export function asWritten(name: string, nodes: (Node | undefined)[]): string {
  for (const node of nodes) {
    const text = node ? everything(node) : "";
    const at = text.toLowerCase().indexOf(name);
    if (at >= 0 && text.length === text.toLowerCase().length) return text.slice(at, at + name.length);
  }
  return name;
}

/** True if a text has a name of the other memory. */
function mentions(one: Node, other: Node): boolean {
  const text = one.text.toLowerCase();
  return [noteTitleOf(other), ...other.aliases].some((name) => name.length > 1 && text.includes(name.toLowerCase()));
}

/** How one step leads to a memory. */
function stepSaid(step: Hop, target: Node | undefined, foundBy: string[]): string {
  const from = knownNode(step.src);
  const title = short(from);
  switch (step.kind) {
    case "mentions":
    case "names":
    case "name":
      return target && from && mentions(target, from) ? `Mentions ${title}` : `Mentioned in ${title}`;
    case "tag":
      return `Has a tag in common with ${title}`;
    case "fact":
      return `A fact joins it to ${title}`;
    case "links":
      return `Linked with ${title}`;
    case "under":
      return from?.kind === "source" ? `Part of ${title}` : `The note of ${title}`;
    case "next":
      return `Next to ${title}`;
    case "during":
      return `From the same time as ${title}`;
    case "co_occurs":
      return `Often named together with ${title}`;
    case "search":
      return `Found by searching on from ${title}`;
    case "relates":
      return `Related to ${title}`;
    default:
      if (step.edge || foundBy.includes("walk") || step.kind.includes("_")) return `Joined to ${title} (${plain(step.kind)})`;
      return `Shares the name “${asWritten(step.kind, [target, from])}” with ${title}`;
  }
}

/** How the memory at the beginning of the step was found. */
function known(id: string, before: (Hop | LabelStep)[], words: string[], hits: Map<string, Hit>): string {
  const earlier = before.at(-1);
  if (earlier) return `, which ${short(knownNode(earlier.src))} led to`;
  const node = hits.get(id)?.node ?? knownNode(id);
  if (!node) return "";
  const has = matched(words, everything(node));
  if (has.length) return has.length === words.length ? ", which has your words" : `, which has ${listed.format(has.slice(0, 3).map((word) => `“${word}”`))}`;
  return ", which is close in meaning to your question";
}
