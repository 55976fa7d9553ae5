/** Draws why a memory was found: each step from the cue to the memory, with the energy that arrived. */

import type { JSX } from "preact";

import type { FactLine, Hit, Hop, LabelStep, Node } from "../api";
import { link } from "../route";
import SIGNALS from "../signals.json";
import { energy, plain, titleOf } from "../words";
import { Kind } from "./basics";
import { useKnown } from "./known";
import { isHop } from "./reason";

/** One step of a path: a node, how it was reached, and its energy. */
interface Stop {
  id: string;
  by: string;
  details: string[];
  energy: number | undefined;
}

/** The labels of the signals of a recall come from the table in Python. */
const FOUND_BY: Record<string, string> = {
  ...SIGNALS,
  text: "words",
  vector: "meaning",
  energy: "energy",
  labels: "shared tags and buckets",
  facts: "facts",
  name: "its name",
};

/** Labels of the parts of a score; the JSON name is shown on hover. */
const PARTS: Record<string, string> = { ...SIGNALS, bm25: "words, BM25", cosine: "meaning, cosine" };

const listed = new Intl.ListFormat("en", { type: "conjunction" });

export const foundBy = (hit: Hit): string => listed.format((hit.why.found_by ?? []).map((by) => FOUND_BY[by] ?? plain(by)));

/** The steps from the first anchor to the hit; `starts` are the energies of the anchors. */
export function stopsOf(hit: Hit, starts: Map<string, number>): Stop[] {
  const path = hit.why.path ?? [];
  const first = path[0];
  if (!first || hit.direct) return [{ id: hit.node.id, by: `found by ${foundBy(hit) || "your question"}`, details: [], energy: hit.score }];
  const start: Stop = { id: first.src, by: "found by your question", details: [], energy: starts.get(first.src) };
  const walked = (hit.why.found_by ?? []).includes("walk");
  return [start, ...path.map((step) => stopAfter(step, walked))];
}

/** Describes a step. A trail step is an edge, a mention, a shared name, or a title with its passage. */
function stopAfter(step: Hop | LabelStep, walked: boolean): Stop {
  if (!isHop(step)) return { id: step.dst, by: "shares", details: step.via, energy: undefined };
  const weight = step.weight === null ? [] : [`weight ${energy(step.weight)}`];
  const tags = step.tags.map((tag) => `#${tag}`);
  const trail = step.kind === "title" ? "what stands under it" : !walked ? `by the name “${step.kind}”` : step.kind === "name" ? "names" : plain(step.kind);
  const by = step.edge ? `${step.outgoing ? "→" : "←"} ${plain(step.kind)}` : trail;
  return { id: step.dst, by, details: [...weight, ...tags], energy: step.energy };
}

export function WhyPath({ hit, cue, starts }: { hit: Hit; cue: string; starts: Map<string, number> }): JSX.Element {
  const stops = stopsOf(hit, starts);
  const nodes = useKnown(stops.map((stop) => stop.id));
  const most = Math.max(...stops.map((stop) => stop.energy ?? 0), 1e-9);
  return (
    <div class="why">
      <ol class="trail" aria-label="The way from your question to this memory">
        <li class="stop cue">
          <span class="dot" aria-hidden="true" />
          <span class="stop-words">“{cue}”</span>
        </li>
        {stops.map((stop, at) => (
          <li class={`stop ${at === 0 ? "anchor" : "walker"}`} key={`${at} ${stop.id}`}>
            <Step stop={stop} share={(stop.energy ?? 0) / most} />
            <Place stop={stop} node={nodes.get(stop.id)} here={stop.id === hit.node.id} />
          </li>
        ))}
      </ol>
      <Parts hit={hit} />
    </div>
  );
}

/** The line to a step: more energy, thicker line. */
function Step({ stop, share }: { stop: Stop; share: number }): JSX.Element {
  const thick = stop.energy === undefined ? 1.5 : 1.5 + 4.5 * Math.sqrt(share);
  return (
    <span class="step">
      <i class="rail" style={{ width: `${thick.toFixed(1)}px` }} aria-hidden="true" />
      <span class="step-by">{stop.by}</span>
      {stop.details.map((detail) => (
        <span class="step-detail" key={detail}>
          {detail}
        </span>
      ))}
    </span>
  );
}

function Place({ stop, node, here }: { stop: Stop; node: Node | undefined; here: boolean }): JSX.Element {
  const title = node ? titleOf(node, 80) : stop.id;
  return (
    <span class="place">
      <span class="dot" aria-hidden="true" />
      <span class="stop-words">
        {here ? <b>{title}</b> : <a href={link("node", stop.id)}>{title}</a>} {node && <Kind kind={node.kind} />}
      </span>
      {stop.energy !== undefined && (
        <span class="stop-energy" title="energy that arrived">
          <span class="unseen">energy </span>
          {energy(stop.energy)}
        </span>
      )}
    </span>
  );
}

/** The facts of an entity in a narrative, with their scores. */
export function Lines({ lines }: { lines: FactLine[] }): JSX.Element {
  return (
    <ul class="lines">
      {lines.map((line) => (
        <li key={line.fact.id}>
          <span>{line.text.replace(/^- /, "")}</span> <span class="stop-energy">{energy(line.score)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The parts of the score. */
function Parts({ hit }: { hit: Hit }): JSX.Element | null {
  const parts = Object.entries(hit.why.parts ?? {}).filter((part): part is [string, number] => typeof part[1] === "number");
  const terms = hit.why.terms ?? [];
  const fits = hit.why.tags ?? [];
  const shared = [...(hit.why.shared ?? [])].sort((one, other) => other.idf - one.idf).slice(0, 6);
  if (!parts.length && !terms.length && !fits.length && !shared.length) return null;
  return (
    <details class="numbers">
      <summary>Numbers</summary>
    <dl class="parts">
      <Part name="score" value={energy(hit.score)} />
      {parts.map(([name, value]) => (
        <Part key={name} name={PARTS[name] ?? plain(name)} title={name} value={energy(value)} />
      ))}
      {terms.length > 0 && <Part name="words" value={terms.join(", ")} />}
      {fits.length > 0 && <Part name="tags that fit" value={fits.map((tag) => `#${tag}`).join(" ")} />}
      {shared.length > 0 && (
        <Part
          name="rarity of what is shared"
          value={shared.map((one) => `${one.what === "tag" ? "#" : "@"}${one.name} ${energy(one.idf)}`).join("  ")}
        />
      )}
    </dl>
    </details>
  );
}

function Part({ name, value, title }: { name: string; value: string; title?: string }): JSX.Element {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
