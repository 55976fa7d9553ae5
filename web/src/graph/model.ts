/** The activation as a graph: nodes with the most energy that reached them, edges as in the memory. */

import type { Activation } from "../api";

export interface Spot {
  id: string;
  energy: number;
  depth: number;
  seed: boolean;
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
const OTHER: [string, string] = ["#66707a", "#a3adb8"];

export const hueOf = (kind: string, dark: boolean): string => (HUES[kind] ?? OTHER)[dark ? 1 : 0];

/** Mixes a colour with the background: less energy, closer to the background; `share` is from 0 to 1. */
export function faded(colour: string, ground: string, share: number): string {
  const keep = 0.4 + 0.6 * Math.sqrt(share);
  const parts = [1, 3, 5].map((at) => {
    const [one, other] = [colour, ground].map((hex) => parseInt(hex.slice(at, at + 2), 16));
    return Math.round(keep * one! + (1 - keep) * other!);
  });
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}
