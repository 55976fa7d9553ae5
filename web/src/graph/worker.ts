/** Computes the layout of a graph in a worker and posts the positions every few rounds. */

import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export interface Task {
  positions: Float32Array;
  sizes: Float32Array;
  /** Pairs of node indexes. */
  edges: Uint32Array;
  weights: Float32Array;
  rounds: number;
  /** Given back with the positions, which may arrive when another layout has begun, or none is wanted. */
  number: number;
}

const AT_A_TIME = 12;

let current = 0;

onmessage = async ({ data }: MessageEvent<Task | null>): Promise<void> => {
  const turn = (current += 1);
  if (!data) return;
  const graph = graphOf(data);
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 400, scalingRatio: 14, gravity: 0.06, edgeWeightInfluence: 0.5 };
  for (let done = 0; done < data.rounds && turn === current; done += AT_A_TIME) {
    forceAtlas2.assign(graph, { iterations: AT_A_TIME, settings, getEdgeWeight: "weight" });
    postMessage({ positions: positionsOf(graph), done: done + AT_A_TIME >= data.rounds, number: data.number });
    // Yields, so that a message can stop this layout or start another.
    await new Promise((resolve) => setTimeout(resolve));
  }
};

function graphOf(task: Task): Graph {
  const graph = new Graph({ multi: false, type: "undirected" });
  for (let at = 0; at < task.sizes.length; at += 1) {
    graph.addNode(String(at), { x: task.positions[2 * at], y: task.positions[2 * at + 1], size: task.sizes[at] });
  }
  for (let at = 0; at < task.weights.length; at += 1) {
    const [one, other] = [String(task.edges[2 * at]), String(task.edges[2 * at + 1])];
    if (one !== other && !graph.hasEdge(one, other)) graph.addEdge(one, other, { weight: task.weights[at] });
  }
  return graph;
}

function positionsOf(graph: Graph): Float32Array {
  const positions = new Float32Array(2 * graph.order);
  graph.forEachNode((node, { x, y }) => positions.set([x as number, y as number], 2 * Number(node)));
  return positions;
}
