/** A graph to draw: the trail of a search, or an activation with the most energy that reached each node. */

import type { Activation, Recollection } from "../api";
import { plain, snippet } from "../words";

export interface Spot {
  id: string;
  energy: number;
  depth: number;
  seed: boolean;
  /** The name of what is no memory, such as the question. */
  label?: string;
}

export interface Line {
  id: string;
  src: string;
  dst: string;
  kind: string;
  energy: number;
}

export interface Drawing {
  spots: Map<string, Spot>;
  lines: Map<string, Line>;
}

export function drawingOf(found: Activation[]): Drawing {
  const spots = new Map<string, Spot>();
  const lines = new Map<string, Line>();
  const touch = (id: string, energy: number, depth: number, seed: boolean): void => {
    const spot = spots.get(id);
    if (!spot) spots.set(id, { id, energy, depth, seed });
    else Object.assign(spot, { energy: Math.max(spot.energy, energy), depth: Math.min(spot.depth, depth), seed: spot.seed || seed });
  };
  for (const one of found) {
    if (one.reason === "seed_not_found") continue;
    touch(one.seed, one.score, 0, true);
    for (const path of one.paths) {
      path.forEach((hop, at) => {
        touch(hop.dst, hop.energy, at + 1, false);
        const known = lines.get(hop.edge);
        if (known && known.energy >= hop.energy) return;
        const [src, dst] = hop.outgoing ? [hop.src, hop.dst] : [hop.dst, hop.src];
        lines.set(hop.edge, { id: hop.edge, src, dst, kind: hop.kind, energy: hop.energy });
      });
    }
  }
  return { spots, lines };
}

/** The id of the question in the graph of its trail; no memory has it. */
export const QUESTION = "\u0000question";

/** The trail of a search: from the question to what it matches, and on along each hop to what is related. */
export function trailOf(found: Recollection): Drawing {
  const spots = new Map<string, Spot>([[QUESTION, { id: QUESTION, energy: 1, depth: 0, seed: true, label: `“${snippet(found.cue, 40)}”` }]]);
  const lines = new Map<string, Line>();
  const touch = (id: string, energy: number, depth: number): void => {
    const known = spots.get(id);
    if (!known) spots.set(id, { id, energy, depth, seed: false });
    else if (energy > known.energy) known.energy = energy;
  };
  const join = (src: string, dst: string, kind: string, energy: number): void => {
    const id = `${src} ${dst} ${kind}`;
    if (src !== dst && !lines.has(id)) lines.set(id, { id, src, dst, kind, energy });
  };
  const best = Math.max(1e-9, ...found.hits.map((hit) => hit.score));
  for (const hit of found.hits) {
    const [path, share] = [hit.why.path ?? [], hit.score / best];
    touch(hit.node.id, share, hit.direct ? 1 : 1 + path.length);
    if (hit.direct || !path.length) join(QUESTION, hit.node.id, "matches", share);
    path.forEach((step, at) => {
      touch(step.src, share / 2, at + 1);
      touch(step.dst, share / 2, at + 2);
      join(step.src, step.dst, "via" in step ? step.via.join(" ") : step.kind === "title" ? "its passage" : step.kind, share);
    });
  }
  // What the trail begins at, and is not among the results, was found by the question too.
  const reached = new Set([...lines.values()].map((line) => line.dst));
  for (const id of spots.keys()) if (id !== QUESTION && !reached.has(id)) join(QUESTION, id, "matches", 0.3);
  return { spots, lines };
}

/** Hops as people call them. */
const HOPS: Record<string, string> = {
  matches: "", name: "mentions", names: "mentions", tag: "same tag", search: "searched on", under: "part of", co_occurs: "named together",
};

export const lineLabel = (line: Line): string => HOPS[line.kind] ?? plain(line.kind);

/** The colours of kinds, each with enough contrast on both backgrounds. */
const HUES: Record<string, [light: string, dark: string]> = {
  atom: ["#5b6b86", "#93a4c3"],
  source: ["#8a6d3b", "#d1b27c"],
  person: ["#b3436b", "#f08cb0"],
  concept: ["#7a4fb0", "#c3a1f0"],
  entity: ["#0d7d6c", "#5fd0b8"],
  episode: ["#2f7d32", "#8fd08f"],
  storyline: ["#a8571b", "#f0a870"],
};
const QUESTION_HUE: [string, string] = ["#4353b3", "#a5b0f7"];
const OTHER: [string, string] = ["#66707a", "#a3adb8"];

export const hueOf = (kind: string, dark: boolean): string => (kind === "question" ? QUESTION_HUE : HUES[kind] ?? OTHER)[dark ? 1 : 0];

/** Mixes a colour with the background: less energy, closer to the background; `share` is from 0 to 1. */
export function faded(colour: string, ground: string, share: number): string {
  const keep = 0.4 + 0.6 * Math.sqrt(share);
  const parts = [1, 3, 5].map((at) => {
    const [one, other] = [colour, ground].map((hex) => parseInt(hex.slice(at, at + 2), 16));
    return Math.round(keep * one! + (1 - keep) * other!);
  });
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
