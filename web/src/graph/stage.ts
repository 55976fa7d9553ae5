/** Draws a graph with WebGL: colour by kind, size by energy. Independent of the rest of the page. */

import Graph from "graphology";
import Sigma from "sigma";

import { type Node } from "../api";
import { titleOf } from "../words";
import { Labels } from "./labels";
import { Layout } from "./layout";
import { type Drawing, faded, hueOf, type Line, lineLabel, QUESTION, type Spot } from "./model";

const FONT = "'Inter Variable', system-ui, sans-serif";

/** A graph of more nodes fills the whole place, and its edges stand back. */
const MANY = 1500;
const LANDMARKS = 40;

interface Look {
  ink: string;
  soft: string;
  ground: string;
  line: string;
  /** For edges of a large graph. */
  faint: string;
  accent: string;
  dark: boolean;
}

export interface Events {
  chosen: (id: string | null) => void;
  settled: (settled: boolean) => void;
}

export class Stage {
  readonly graph = new Graph({ multi: true, type: "directed" });
  private readonly sigma: Sigma;
  private readonly layout: Layout;
  private readonly room: ResizeObserver;
  private readonly labels = new Labels(FONT, () => this.look);
  private look: Look;
  private chosen: string | null = null;
  private hovered: string | null = null;
  private near = new Set<string>();
  private least = 0;
  private only: ReadonlySet<string> | null = null;
  private lit: ReadonlySet<string> | null = null;

  constructor(
    private readonly place: HTMLElement,
    private readonly events: Events,
  ) {
    this.look = lookOf(place);
    this.sigma = new Sigma(this.graph, place, this.settings());
    const stretch = (): number => (this.graph.order > MANY ? Math.min(2, Math.max(0.6, place.clientWidth / Math.max(1, place.clientHeight))) : 1);
    this.layout = new Layout(this.graph, stretch, (settled) => events.settled(settled));
    this.listen();
    this.room = new ResizeObserver(() => this.sigma.resize().refresh({ skipIndexation: true }));
    this.room.observe(place);
  }

  private settings(): ConstructorParameters<typeof Sigma>[2] {
    return {
      allowInvalidContainer: true,
      labelRenderedSizeThreshold: 4.5,
      defaultDrawNodeLabel: (context, data) => this.labels.want(context, data),
      defaultEdgeColor: this.look.line,
      defaultDrawNodeHover: (context, data) => this.drawHover(context, data),
      zIndex: true,
      edgeLabelFont: FONT,
      edgeLabelSize: 11,
      edgeLabelColor: { color: this.look.soft },
      minCameraRatio: 0.05,
      maxCameraRatio: 4,
      nodeReducer: (id, data) => this.reducedNode(id, data),
      edgeReducer: (id, data) => this.reducedEdge(id, data),
    };
  }

  /** Replaces the graph. */
  show(drawing: Drawing, nodes: (id: string) => Node | undefined): void {
    this.graph.clear();
    this.add([...drawing.spots.values()], [...drawing.lines.values()], nodes);
    // The hops of a short trail are named.
    this.sigma.setSetting("renderEdgeLabels", this.graph.size < 60);
    this.sigma.setSetting("labelRenderedSizeThreshold", this.graph.order < 80 ? 0 : 4.5);
    // Large graphs show fewer labels.
    this.sigma.setSetting("labelDensity", this.graph.order > 500 ? 0.5 : 3);
    void this.sigma.getCamera().setState({ x: 0.5, y: 0.5, ratio: 1, angle: 0 });
  }

  /** Adds nodes and edges to the graph. */
  add(spots: Spot[], lines: Line[], nodes: (id: string) => Node | undefined, around?: string): void {
    const most = spots.reduce((sofar, spot) => Math.max(sofar, spot.energy), 1e-9);
    const scale = spots.length > 2000 ? 0.45 : spots.length > 500 ? 0.7 : 1;
    spots.forEach((spot, at) => {
      if (this.graph.hasNode(spot.id)) return;
      const node = nodes(spot.id);
      const kind = spot.id === QUESTION ? "question" : (node?.kind ?? "atom");
      this.graph.addNode(spot.id, {
        ...this.beginning(spot, at, spots.length, around),
        size: scale * (spot.seed ? 11 : 3.5 + 7 * Math.sqrt(spot.energy / most)),
        share: spot.energy / most,
        label: spot.label ?? (node ? titleOf(node, 42) : spot.id),
        kind,
        energy: spot.energy,
        seed: spot.seed,
        color: this.colour(kind, spot.energy / most),
      });
    });
    for (const line of lines) {
      if (this.graph.hasEdge(line.id) || !this.graph.hasNode(line.src) || !this.graph.hasNode(line.dst)) continue;
      const share = Math.sqrt(line.energy / most);
      this.graph.addEdgeWithKey(line.id, line.src, line.dst, { size: scale * (0.6 + 3 * share), weight: 0.2 + share, energy: line.energy, label: lineLabel(line) });
    }
    if (around === undefined) this.nameLandmarks();
    this.settle();
  }

  /** In a large graph the nodes with most edges are named, so that it can be read from afar. */
  private nameLandmarks(): void {
    if (this.graph.order <= 500) return;
    const hubs = this.graph.nodes().sort((one, other) => this.graph.degree(other) - this.graph.degree(one));
    for (const id of hubs.slice(0, LANDMARKS)) this.graph.mergeNodeAttributes(id, { landmark: true, share: 1, size: 7, color: this.colour(this.graph.getNodeAttribute(id, "kind") as string, 1) });
  }

  /** The first position of a node: seeds in the middle, others in rings by distance, added ones beside their neighbour. */
  private beginning(spot: Spot, at: number, of: number, around?: string): { x: number; y: number } {
    // The golden angle spreads the nodes; the same graph always begins the same.
    const angle = at * 2.399963 + (of % 7);
    const far = around === undefined ? 40 + 120 * spot.depth : 30;
    const middle = around !== undefined && this.graph.hasNode(around) ? this.graph.getNodeAttributes(around) : { x: 0, y: 0 };
    return { x: (middle["x"] as number) + far * Math.cos(angle), y: (middle["y"] as number) + far * Math.sin(angle) };
  }

  private colour(kind: string, share: number): string {
    return faded(hueOf(kind, this.look.dark), this.look.ground, share);
  }

  settle(): void {
    this.events.settled(false);
    this.layout.run();
  }

  freeze(): void {
    this.layout.stop();
    this.events.settled(true);
  }

  choose(id: string | null, follow = false): void {
    this.chosen = id !== null && this.graph.hasNode(id) ? id : null;
    this.follow(this.hovered ?? this.chosen);
    if (follow && this.chosen) {
      const at = this.sigma.getNodeDisplayData(this.chosen);
      if (at) void this.sigma.getCamera().animate({ x: at.x, y: at.y, ratio: Math.min(this.sigma.getCamera().ratio, 0.6) }, { duration: quick(400) });
    }
  }

  /** Hides all other nodes; null shows all. */
  showOnly(ids: ReadonlySet<string> | null): void {
    this.only = ids;
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Sets these nodes off from all others; null ends that. */
  light(ids: ReadonlySet<string> | null): void {
    this.lit = ids;
    this.sigma.refresh({ skipIndexation: true });
  }

  /** Hides nodes with less energy. */
  atLeast(energy: number): void {
    this.least = energy;
    this.sigma.refresh({ skipIndexation: true });
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.ratio / factor }, { duration: quick(200) });
  }

  fit(): void {
    void this.sigma.getCamera().animate({ x: 0.5, y: 0.5, ratio: 1, angle: 0 }, { duration: quick(300) });
  }

  /** Reads the colours of the page again after a theme change. */
  recolour(): void {
    this.look = lookOf(this.place);
    this.sigma.setSetting("defaultEdgeColor", this.look.line);
    this.sigma.setSetting("edgeLabelColor", { color: this.look.soft });
    this.graph.updateEachNodeAttributes((_, data) => ({ ...data, color: this.colour(data["kind"] as string, data["share"] as number) }));
  }

  end(): void {
    this.room.disconnect();
    this.layout.end();
    this.sigma.kill();
  }

  private follow(id: string | null): void {
    this.near = new Set(id === null ? [] : [id, ...this.graph.neighbors(id)]);
    this.sigma.refresh({ skipIndexation: true });
  }

  private listen(): void {
    let dragged: string | null = null;
    this.sigma.on("beforeRender", () => this.labels.begin());
    this.sigma.on("afterRender", () => this.labels.write());
    this.sigma.on("enterNode", ({ node }) => {
      this.hovered = node;
      this.follow(node);
      this.place.style.cursor = "pointer";
    });
    this.sigma.on("leaveNode", () => {
      this.hovered = null;
      this.follow(this.chosen);
      this.place.style.cursor = "";
    });
    this.sigma.on("clickNode", ({ node }) => this.events.chosen(node));
    this.sigma.on("clickStage", () => this.events.chosen(null));
    this.sigma.on("downNode", ({ node }) => {
      dragged = node;
      this.graph.setNodeAttribute(node, "held", true);
    });
    this.sigma.on("moveBody", ({ event }) => {
      if (dragged === null) return;
      const at = this.sigma.viewportToGraph(event);
      this.graph.mergeNodeAttributes(dragged, { x: at.x, y: at.y });
      event.preventSigmaDefault();
    });
    const drop = (): void => {
      if (dragged !== null) this.graph.removeNodeAttribute(dragged, "held");
      dragged = null;
    };
    this.sigma.on("upNode", drop);
    this.sigma.on("upStage", drop);
  }

  private isShown(id: string): boolean {
    const node = this.graph.getNodeAttributes(id);
    if (id === QUESTION) return true;
    if (this.only && !this.only.has(id)) return false;
    return (node["energy"] as number) >= this.least || node["seed"] === true;
  }

  private reducedNode(id: string, data: Record<string, unknown>): Record<string, unknown> {
    if (!this.isShown(id)) return { ...data, hidden: true };
    const chosen = id === this.chosen;
    if (this.lit && !this.near.size && !this.lit.has(id)) return { ...data, color: this.look.line, label: "", zIndex: 0 };
    if (this.lit && !this.near.size) return { ...data, color: hueOf(data["kind"] as string, this.look.dark), zIndex: 2, forceLabel: this.lit.size < 40, size: Math.max(5, data["size"] as number), highlighted: chosen };
    if (this.near.size && !this.near.has(id)) return { ...data, color: this.look.line, label: "", zIndex: 0 };
    return { ...data, zIndex: this.near.has(id) || data["landmark"] === true ? 2 : 1, forceLabel: chosen || (data["landmark"] === true && !this.near.size) || (data["seed"] === true && !this.near.size) || (this.near.size > 1 && this.near.size < 30), highlighted: chosen };
  }

  private reducedEdge(id: string, data: Record<string, unknown>): Record<string, unknown> {
    const [src, dst] = this.graph.extremities(id);
    if (!this.isShown(src) || !this.isShown(dst)) return { ...data, hidden: true };
    const lit = this.near.has(src) && this.near.has(dst);
    if (lit) return { ...data, color: this.look.accent, zIndex: 2 };
    if (this.graph.order > MANY) return { ...data, zIndex: 0, size: 0.4, color: this.look.faint };
    return this.near.size ? { ...data, zIndex: 0, size: 0.4 } : data;
  }

  private drawHover(context: CanvasRenderingContext2D, data: { x: number; y: number; size: number; label?: string | null }): void {
    const text = data.label ?? "";
    context.font = `500 12px ${FONT}`;
    const width = context.measureText(text).width + 14;
    context.beginPath();
    context.arc(data.x, data.y, data.size + 3, 0, 2 * Math.PI);
    context.strokeStyle = this.look.accent;
    context.lineWidth = 2;
    context.stroke();
    if (!text) return;
    context.fillStyle = this.look.ground;
    context.strokeStyle = this.look.line;
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(data.x + data.size + 6, data.y - 12, width, 24, 6);
    context.fill();
    context.stroke();
    context.fillStyle = this.look.ink;
    context.fillText(text, data.x + data.size + 13, data.y + 4);
  }
}

const quick = (ms: number): number => (matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : ms);

function lookOf(place: HTMLElement): Look {
  const style = getComputedStyle(place);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), soft: of("--muted"), ground: of("--surface"), line: of("--graph-line"), faint: of("--sunken"), accent: of("--walker"), dark: of("--is-dark") === "1" };
}

/** True if this browser has WebGL. */
export function canDraw(): boolean {
  return document.createElement("canvas").getContext("webgl2") !== null;
}
