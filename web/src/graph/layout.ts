/** The page's side of the layout: hands a graph to the worker and moves its nodes as they settle. */

import type Graph from "graphology";

import type { Task } from "./worker";

interface TypesFactory {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL: (url: string) => string };
}

// The content security policy allows only files of this server; a worker needs a trusted URL, made here only.
const types = (globalThis as { trustedTypes?: TypesFactory }).trustedTypes;
const policy = types?.createPolicy("cuetrail", {
  createScriptURL: (url) => {
    if (url !== document.documentElement.dataset["worker"]) throw new TypeError("this is no file of the page");
    return url;
  },
});

export class Layout {
  private readonly worker: Worker;
  private number = new Map<string, number>();
  private runs = 0;
  private running = 0;

  constructor(
    private readonly graph: Graph,
    /** How much wider than high the graph is drawn, so that a large one fills its place. */
    private readonly stretch: () => number,
    private readonly moved: (settled: boolean) => void,
  ) {
    const url = document.documentElement.dataset["worker"] ?? "";
    this.worker = new Worker(policy ? policy.createScriptURL(url) : url, { type: "module" });
    this.worker.onmessage = ({ data }: MessageEvent<{ positions: Float32Array; done: boolean; number: number }>) => {
      if (data.number !== this.running) return;
      const number = this.number;
      const wide = this.stretch();
      // One update for all nodes, so that thousands of them are one redraw.
      this.graph.updateEachNodeAttributes(
        (id, node) => {
          const at = number.get(id);
          return at === undefined || node["held"] ? node : { ...node, x: wide * data.positions[2 * at]!, y: data.positions[2 * at + 1] };
        },
        { attributes: ["x", "y"] },
      );
      this.moved(data.done);
    };
  }

  /** Starts a layout; a running one stops. */
  run(): void {
    const nodes = this.graph.nodes();
    const number = new Map(nodes.map((id, at) => [id, at]));
    this.number = number;
    const edges = this.graph.edges();
    const wide = this.stretch();
    const task: Task = {
      positions: Float32Array.from(nodes.flatMap((id) => [(this.graph.getNodeAttribute(id, "x") as number) / wide, this.graph.getNodeAttribute(id, "y") as number])),
      sizes: Float32Array.from(nodes, (id) => this.graph.getNodeAttribute(id, "size") as number),
      edges: Uint32Array.from(edges.flatMap((edge) => this.graph.extremities(edge).map((id) => number.get(id) ?? 0))),
      weights: Float32Array.from(edges, (edge) => this.graph.getEdgeAttribute(edge, "weight") as number),
      rounds: nodes.length > 1500 ? 240 : 480,
      number: (this.runs += 1),
    };
    this.running = this.runs;
    this.worker.postMessage(task);
  }

  stop(): void {
    this.running = 0;
    this.worker.postMessage(null);
  }

  end(): void {
    this.worker.terminate();
  }
}
