/** The trail of a search as a graph, or the activation of its words, and the same nodes as a list. */

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { type Activation, ask, follow, type Recollection } from "../api";
import { asProblem, useAsked, useTheme } from "../hooks";
import { fits, type GraphFilter, GraphFilters, NO_FILTER } from "../graph/filters";
import { drawingOf, type Drawing, hueOf, type Line, QUESTION, type Spot, trailOf } from "../graph/model";
import type { Stage } from "../graph/stage";
import { Button, Empty, Failure, Kind, Loading, Told } from "../parts/basics";
import { knownNode, learnAbout } from "../parts/known";
import { link } from "../route";
import { count, energy, kindOf, many, snippet, titleOf } from "../words";

interface Flow {
  max_depth: number;
  max_branches: number;
  limit: number;
}

/** How far activation spreads: a few paths, or thousands of nodes. */
const REACH: [name: string, flow: Flow][] = [
  ["Near", { max_depth: 3, max_branches: 3, limit: 5 }],
  ["Far", { max_depth: 5, max_branches: 6, limit: 8 }],
  ["Everywhere", { max_depth: 8, max_branches: 40, limit: 15 }],
];

/** Starts from a search, whose trail is drawn first, or from given nodes. */
export function GraphView({ cue, seeds, found }: { cue?: string; seeds?: string[]; found?: Recollection }): JSX.Element {
  const [reach, setReach] = useState(found ? -1 : 1);
  const [come, setCome] = useState(0);
  const from = seeds ?? cue ?? "";
  const asked = useAsked(JSON.stringify([from, reach]), async (signal) => {
    if (found && reach < 0) {
      const drawing = trailOf(found);
      await learnAbout([...drawing.spots.keys()].filter((id) => id !== QUESTION), signal);
      return { drawing, failed: [] };
    }
    // Looking at a graph does not count as a use of its memories.
    const given = { seeds: from, ...REACH[reach]![1], min_activation: reach === 2 ? 0.0001 : 0.005, record_access: false };
    setCome(0);
    // Drawn seed by seed, so that a long activation shows progress.
    const energies = await follow<Activation>("activate", given, (sofar) => setCome(drawingOf(sofar).spots.size), signal);
    const drawing = drawingOf(energies);
    await learnAbout(drawing.spots.keys(), signal);
    return { drawing, failed: energies.filter((one) => one.error !== null) };
  });
  const choices: [string, number][] = [...(found ? [["This search", -1] as [string, number]] : []), ...REACH.map(([name], at): [string, number] => [name, at])];
  return (
    <div class="graph-view">
      <div class="graph-bar">
        <fieldset class="segments">
          <legend class="unseen">How much is drawn</legend>
          {choices.map(([name, at]) => (
            <label key={name}>
              <input type="radio" name="reach" checked={reach === at} onChange={() => setReach(at)} />
              <span>{name}</span>
            </label>
          ))}
        </fieldset>
        {asked.data && (
          <span class="muted" role="status" data-graph-size>
            {many(asked.data.drawing.spots.size, "node")}, {many(asked.data.drawing.lines.size, "edge")}
          </span>
        )}
      </div>
      {asked.loading && come > 0 && <p class="muted" role="status">Energy has come to {many(come, "node")}…</p>}
      {asked.loading && <Loading what="the graph" rows={2} />}
      {asked.problem && <Failure problem={asked.problem} again={asked.again} />}
      {asked.data?.failed.map((one) => (
        <p class="notice" key={one.seed}><Told text={one.error ?? ""} /></p>
      ))}
      {asked.data &&
        (asked.data.drawing.spots.size ? (
          <Drawn drawing={asked.data.drawing} trail={reach < 0} />
        ) : (
          <Empty title="No energy flows from here">
            <p>The question finds nothing to start from, or what it finds has no edges yet. <code>cuetrail dream</code> finds what belongs together.</p>
          </Empty>
        ))}
    </div>
  );
}

function Drawn({ drawing, trail }: { drawing: Drawing; trail: boolean }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [settled, setSettled] = useState(false);
  const [least, setLeast] = useState(0);
  const [ready, setReady] = useState(0);
  const [broken, setBroken] = useState("");
  const [extra, setExtra] = useState<Spot[]>([]);
  const theme = useTheme();
  useEffect(() => {
    let gone = false;
    // The drawing code is loaded only for this view.
    import("../graph/stage").then(
      ({ canDraw, Stage }) => {
        if (gone || !place.current) return;
        if (!canDraw()) return setBroken("This browser has no WebGL to draw with. The list below has the same nodes.");
        stage.current = new Stage(place.current, { chosen: setChosen, settled: setSettled });
        stage.current.show(drawing, knownNode);
        setReady((turn) => turn + 1);
      },
      (error: unknown) => setBroken(asProblem(error).message),
    );
    return () => {
      gone = true;
      stage.current?.end();
      stage.current = null;
    };
  }, [drawing]);
  useEffect(() => stage.current?.recolour(), [theme]);
  useEffect(() => stage.current?.choose(chosen), [chosen]);
  const spots = useMemo(() => [...drawing.spots.values(), ...extra].sort((a, b) => b.energy - a.energy), [drawing, extra]);
  const [filter, setFilter] = useState<GraphFilter>(NO_FILTER);
  const fitting = useMemo(() => (filter === NO_FILTER ? spots : spots.filter((spot) => fits(knownNode(spot.id), filter))), [spots, filter]);
  const word = filter.word.trim().toLowerCase();
  const found = useMemo(() => (word ? fitting.filter((spot) => titleAt(spot).toLowerCase().includes(word)) : fitting), [fitting, word]);
  useEffect(() => stage.current?.showOnly(fitting === spots ? null : new Set(fitting.map((spot) => spot.id))), [fitting, drawing, ready]);
  useEffect(() => stage.current?.light(word ? new Set(found.map((spot) => spot.id)) : null), [found, word, drawing, ready]);
  const strongest = spots[0]?.energy ?? 1;
  const limit = (value: number): void => {
    setLeast(value);
    // Energies differ by powers of ten, so the slider is logarithmic.
    stage.current?.atLeast(value === 0 ? 0 : strongest * 10 ** (-3.5 * (1 - value)));
  };
  const grow = async (id: string): Promise<void> => {
    const more = await around(id);
    const new_ = more.spots.filter((spot) => !stage.current?.graph.hasNode(spot.id));
    stage.current?.add(more.spots, more.lines, knownNode, id);
    setExtra((before) => [...before, ...new_]);
  };
  return (
    <>
      <GraphFilters nodes={spots.map((spot) => knownNode(spot.id))} filter={filter} change={setFilter} shown={found.length} />
      <div class={`stage ${broken ? "off" : ""} ${trail ? "short" : ""}`}>
        <div ref={place} class="canvas" role="img" aria-label={`A graph of ${many(spots.length, "node")}; the list below has the same nodes`} />
        {broken && <p class="notice">{broken}</p>}
        <div class="stage-tools">
          <Button icon="plus" label="Zoom in" onClick={() => stage.current?.zoom(1.5)} />
          <Button icon="minus" label="Zoom out" onClick={() => stage.current?.zoom(1 / 1.5)} />
          <Button icon="fit" label="Show all" onClick={() => stage.current?.fit()} />
          <Button
            icon={settled ? "play" : "pause"}
            label={settled ? "Lay out again" : "Hold still"}
            onClick={() => (settled ? stage.current?.settle() : stage.current?.freeze())}
          />
          {!trail && (
            <label class="least">
              Energy at least
              <input type="range" min="0" max="1" step="0.02" value={least} onInput={(event) => limit(event.currentTarget.valueAsNumber)} />
            </label>
          )}
        </div>
        <Legend spots={spots} />
        {chosen !== null && chosen !== QUESTION && <Chosen id={chosen} spot={spots.find((one) => one.id === chosen)} grow={grow} close={() => setChosen(null)} />}
      </div>
      <NodeList spots={found} all={spots.length} chosen={chosen} choose={(id) => { setChosen(id); stage.current?.choose(id, true); }} />
    </>
  );
}

/** The strongest edges of a node, to add to the graph. */
async function around(id: string): Promise<{ spots: Spot[]; lines: Line[] }> {
  interface Near { neighbours: { id: string; edge: string; kind: string; weight: number | null; outgoing: boolean }[] }
  const { neighbours } = await ask<Near>("neighbours", { id, limit: 30 });
  await learnAbout(neighbours.map((one) => one.id));
  return {
    spots: neighbours.map((one) => ({ id: one.id, energy: 0, depth: 1, seed: false })),
    lines: neighbours.map((one) => ({
      id: one.edge,
      src: one.outgoing ? id : one.id,
      dst: one.outgoing ? one.id : id,
      kind: one.kind,
      energy: 0,
    })),
  };
}

function Legend({ spots }: { spots: Spot[] }): JSX.Element {
  const dark = useTheme() === "dark";
  const kinds = [...new Set(spots.map(kindAt))].sort();
  return (
    <ul class="legend" aria-label="Colours">
      {kinds.map((kind) => (
        <li key={kind}>
          <i style={{ background: hueOf(kind, dark) }} aria-hidden="true" />
          {kindOf(kind)}
        </li>
      ))}
      <li>larger: a better match</li>
    </ul>
  );
}

interface ChosenProps {
  id: string;
  spot: Spot | undefined;
  grow: (id: string) => Promise<void>;
  close: () => void;
}

function Chosen({ id, spot, grow, close }: ChosenProps): JSX.Element {
  const node = knownNode(id);
  return (
    <aside class="chosen" aria-label="The chosen node">
      <header>
        {node && <Kind kind={node.kind} />}
        <Button icon="close" label="Close" look="quiet" onClick={close} />
      </header>
      <h3>{node ? titleOf(node, 120) : id}</h3>
      {node?.source && <p class="muted source">{node.source}</p>}
      {spot && spot.energy > 0 && <p class="muted">{spot.seed ? "A seed, with energy" : "Energy"} {energy(spot.energy)}</p>}
      {node?.text && <p class="chosen-text">{snippet(node.text, 320)}</p>}
      <p class="row">
        <a class="button strong" href={link("node", id)}>Open</a>
        <Button onClick={() => void grow(id).catch(() => undefined)}>Show neighbours</Button>
      </p>
    </aside>
  );
}

const SHOWN = 200;

/** The same nodes as a list, the strongest first: for keyboards and screen readers. The filters apply to it too. */
function NodeList({ spots, all, chosen, choose }: { spots: Spot[]; all: number; chosen: string | null; choose: (id: string) => void }): JSX.Element {
  return (
    <details class="node-list">
      <summary>{spots.length < all ? `${count(spots.length)} of ${many(all, "node")} as a list` : `${many(all, "node")} as a list`}</summary>
      <ol>
        {spots.slice(0, SHOWN).map((spot) => (
          <li key={spot.id}>
            <button type="button" class="row-button" aria-pressed={chosen === spot.id} onClick={() => choose(spot.id)}>
              <span>{titleAt(spot)}</span>
              <Kind kind={kindAt(spot)} />
              <span class="stop-energy">{energy(spot.energy)}</span>
            </button>
          </li>
        ))}
      </ol>
      {spots.length > SHOWN && <p class="muted">The {SHOWN} strongest of {count(spots.length)}. Use the filters to find others.</p>}
    </details>
  );
}

function titleAt(spot: Spot): string {
  const node = knownNode(spot.id);
  return spot.label ?? (node ? titleOf(node, 90) : spot.id);
}

const kindAt = (spot: Spot): string => (spot.id === QUESTION ? "question" : (knownNode(spot.id)?.kind ?? "atom"));
