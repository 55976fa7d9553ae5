/** One memory: its text, facts, links and earlier versions. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, askFor, type Fact, type Node, type Problem, view } from "../api";
import { asProblem, useAsked, useKeys, useTitle } from "../hooks";
import { EditDialog, ForgetDialog, wholeOf } from "../parts/actions";
import { Bucket, Button, Empty, Failure, Kind, Loading, Meter, Tag } from "../parts/basics";
import { Markdown } from "../markdown/render";
import { learn } from "../parts/known";
import { Links, type Tie } from "../parts/links";
import { canMerge, MergeDialog } from "../parts/merge";
import { Elsewhere, type Note, WholeNote } from "../parts/note";
import { go, link } from "../route";
import { atTime, energy, isDay, isoOf, many, onDay, onShortDay, plain, shownTime, titleOf } from "../words";
import { GraphView } from "./graph";

/** The result of the server's view `about`. */
interface About {
  node: Node;
  mine: boolean;
  owner: string;
  team: string | null;
  created: number;
  updated: number;
  accesses: number;
  confidence: number;
  retention: string;
  labels: { name: string; display: string; origin: string }[];
  degree: number;
  ties: Tie[];
  facts: (Fact & { object_title: string | null })[];
  summary: string;
  note: Note | null;
  /** The file on this machine's disk, if the server is on it too. */
  file: { path: string; vault: boolean } | null;
  history: { at: number; name: string | null; text: string }[];
  notes: { id: string; text: string; created: number; expires: number | null }[];
}

export function NodeView({ id }: { id: string }): JSX.Element {
  const about = useAsked(id, async (signal) => {
    const found = await view<About>("about", { id }, signal);
    learn([found.node]);
    return found;
  });
  useTitle(about.data ? titleOf(about.data.node, 60) : "Memory");
  if (about.loading && !about.data) return <Loading what="this memory" rows={3} />;
  if (about.problem?.status === 404) {
    return (
      <Empty title="This memory is not here">
        <p>It may have been forgotten, or belong to somebody else. <a href={link("search")}>Search</a> for another.</p>
      </Empty>
    );
  }
  if (about.problem) return <Failure problem={about.problem} again={about.again} />;
  return about.data ? <Whole about={about.data} again={about.again} /> : <></>;
}

function Whole({ about, again }: { about: About; again: () => void }): JSX.Element {
  const [doing, setDoing] = useState<"edit" | "forget" | "merge" | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const { node } = about;
  const own = about.labels.filter((tag) => tag.origin === "user");
  const automatic = about.labels.filter((tag) => tag.origin !== "user");
  const aside = node.provenance === "quarantine";
  const move = (): void => {
    setProblem(undefined);
    askFor<Node[]>("quarantine", { ...wholeOf(node), undo: aside }).then(again, (error: unknown) => setProblem(asProblem(error)));
  };
  const judge = (verb: "confirm" | "retract", id: string): void => {
    setProblem(undefined);
    ask<Fact>(verb, { id }).then(again, (error: unknown) => setProblem(asProblem(error)));
  };
  useKeys((key) => {
    if (!about.mine || (key !== "e" && key !== "Delete")) return false;
    setDoing(key === "e" ? "edit" : "forget");
    return true;
  });
  const passage = about.note !== null && node.kind === "atom" && about.note.passages.some((one) => one.id === node.id);
  const title = passage ? about.note!.title : titleOf(node, 120);
  return (
    <article class="node">
      <header class="node-head">
        <h1>{passage && about.note!.id ? <a href={link("node", about.note!.id)}>{title}</a> : title}</h1>
        <p class="card-head">
          <Kind kind={node.kind} />
          {node.source && <span class="source">{node.source}</span>}
          <time dateTime={isoOf(node.at)}>{onDay(shownTime(node))}{!isDay(node) && `, ${atTime(node.at)}`}</time>
        </p>
        <div class="row">
          {about.mine ? (
            <>
              <Button icon="edit" onClick={() => setDoing("edit")}>Edit</Button>
              <Button icon="quarantine" onClick={move}>{aside ? "Let back" : "Set aside"}</Button>
              {canMerge(node) && <Button icon="merge" look="quiet" onClick={() => setDoing("merge")}>Merge</Button>}
              <Button icon="forget" look="quiet" onClick={() => setDoing("forget")}>Forget</Button>
            </>
          ) : (
            <span class="muted">It belongs to {about.owner}, who alone can change it.</span>
          )}
          <Elsewhere file={about.file} />
        </div>
        {aside && <p class="notice">In quarantine: nothing finds it unless it is asked to.</p>}
        {problem && <Failure problem={problem} />}
      </header>
      <div class="node-columns">
        <div class="node-main">
          {about.note && about.note.passages.length > 0 && (passage || !node.text) ? (
            <WholeNote note={about.note} here={passage ? node.id : ""} />
          ) : (
            (node.text || about.summary) && <div class="node-text"><Markdown text={node.text || about.summary} /></div>
          )}
          {node.aliases.length > 0 && <p class="muted">Also called {node.aliases.join(", ")}</p>}
          <p class="labels">
            {own.map((tag) => <Tag name={tag.name} origin={tag.origin} key={tag.name} />)}
            {node.buckets.map((name) => <Bucket name={name} key={name} />)}
          </p>
          {automatic.length > 0 && (
            <p class="labels" aria-label="Automatic tags">
              <span class="muted">Automatic</span>
              {automatic.map((tag) => <Tag name={tag.name} origin={tag.origin} key={tag.name} />)}
            </p>
          )}
          <Facts about={about} judge={judge} />
          <Notes about={about} />
          <History about={about} />
        </div>
        <aside>
          <Links id={node.id} title={title} ties={about.ties} degree={about.degree} mine={about.mine} again={again} />
          <Details about={about} />
        </aside>
      </div>
      {about.degree > 0 && <Around id={node.id} />}
      {doing === "edit" && (
        <EditDialog
          node={node}
          tags={own.map((tag) => tag.display)}
          onClose={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            again();
          }}
        />
      )}
      {doing === "merge" && <MergeDialog node={node} onClose={() => setDoing(null)} onDone={(kept) => go(link("node", kept))} />}
      {doing === "forget" && <ForgetDialog nodes={[node]} onClose={() => setDoing(null)} onDone={() => go(link("search"))} />}
    </article>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const ENDED = ["superseded", "retracted"];

function Facts({ about, judge }: { about: About; judge: (verb: "confirm" | "retract", id: string) => void }): JSX.Element | null {
  if (!about.facts.length) return null;
  const now = about.facts.filter((fact) => !ENDED.includes(fact.status));
  const ended = about.facts.filter((fact) => ENDED.includes(fact.status));
  const row = (fact: About["facts"][number]): JSX.Element => (
    <tr key={fact.id}>
      <th scope="row">{plain(fact.predicate)}</th>
      <td>{fact.object ? <a href={link("node", fact.object)}>{fact.object_title ?? fact.object}</a> : fact.value}</td>
      <td class="muted">{fact.status}{fact.valid_until !== null && `, until ${onShortDay(fact.valid_until)}`}</td>
      <td><Meter share={fact.confidence} text={energy(fact.confidence)} of="Confidence" /></td>
      <td class="fact-tools">
        {about.mine && fact.status === "staged" && <Button icon="check" look="quiet" label={`Confirm ${plain(fact.predicate)}`} onClick={() => judge("confirm", fact.id)} />}
        {about.mine && !ENDED.includes(fact.status) && <Button icon="close" look="quiet" label={`Retract ${plain(fact.predicate)}`} onClick={() => judge("retract", fact.id)} />}
      </td>
    </tr>
  );
  return (
    <Section title="Facts">
      <table class="facts">
        <thead class="unseen">
          <tr><th scope="col">Predicate</th><th scope="col">Value</th><th scope="col">Status</th><th scope="col">Confidence</th><th scope="col">Actions</th></tr>
        </thead>
        <tbody>{now.map(row)}</tbody>
        {ended.length > 0 && <tbody class="ended">{ended.map(row)}</tbody>}
      </table>
    </Section>
  );
}

function Notes({ about }: { about: About }): JSX.Element | null {
  if (!about.notes.length) return null;
  return (
    <Section title="Notes">
      <ul class="items">
        {about.notes.map((note) => (
          <li key={note.id}>
            {note.text}
            <span class="muted"> {onShortDay(note.created)}{note.expires !== null && `, until ${onShortDay(note.expires)}`}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function History({ about }: { about: About }): JSX.Element {
  return (
    <Section title="History">
      <ol class="history">
        {[...about.history].reverse().map((version) => (
          <li key={version.at}>
            <span class="muted">until {onShortDay(version.at)}, {atTime(version.at)}</span>
            <span class="was">{version.name !== null && version.name !== about.node.name && <b>{version.name}: </b>}{version.text || "(no text)"}</span>
          </li>
        ))}
        <li>
          <span class="muted">since {onShortDay(about.created)}</span>
          <span>{about.history.length ? "first remembered" : "first remembered, and never corrected"}</span>
        </li>
      </ol>
    </Section>
  );
}

function Details({ about }: { about: About }): JSX.Element {
  const { node } = about;
  const rows: [string, string][] = [
    ["State", `${node.state}, salience ${energy(node.salience)}`],
    ["Used", many(about.accesses, "time")],
    ["Fades", about.retention === "keep_forever" ? "never" : about.retention === "ephemeral" ? "soon" : "while nobody uses it"],
    ["Confidence", energy(about.confidence)],
    ["Origin", node.provenance],
    ["Changed", onShortDay(about.updated)],
    ["Owner", about.team ? `${about.owner}, for ${about.team}` : about.owner],
    ["Id", node.id],
  ];
  return (
    <Section title="Details">
      <dl class="details">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** The graph around a node, drawn on demand. */
function Around({ id }: { id: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <Section title="Where energy flows from here">
      {open ? <GraphView seeds={[id]} /> : <Button icon="graph" onClick={() => setOpen(true)}>Draw the graph</Button>}
    </Section>
  );
}
