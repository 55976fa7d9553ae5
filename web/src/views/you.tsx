/** What the memory holds about its user: each fact with its source, to confirm, correct or retract. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, type Fact, type Node, type Problem, view } from "../api";
import { asProblem, useAsked, useTitle } from "../hooks";
import { Button, Failure, Loading } from "../parts/basics";
import { link } from "../route";
import { isoOf, onShortDay, plain, titleOf } from "../words";

interface Stated extends Fact {
  object_title: string | null;
  origin: { id: string; source: string | null; text: string } | null;
}

interface Owner {
  user: string;
  node: Node | null;
  facts: Stated[];
}

const ENDED = new Set(["superseded", "retracted"]);

export function YouView(): JSX.Element {
  useTitle("You");
  const found = useAsked("owner", (signal) => view<Owner>("owner", {}, signal));
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
      found.again();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  if (found.loading && !found.data) return <Loading what="what I know about you" rows={3} />;
  if (found.problem) return <Failure problem={found.problem} again={found.again} />;
  if (!found.data) return <></>;
  const { node, facts, user } = found.data;
  const now = facts.filter((fact) => !ENDED.has(fact.status));
  const ended = facts.filter((fact) => ENDED.has(fact.status));
  return (
    <>
      <header class="view-head">
        <h1>What I know about you</h1>
        {node && <a class="button" href={link("node", node.id)}>{titleOf(node, 40)}</a>}
      </header>
      {problem && <Failure problem={problem} />}
      {!node && <Introduce user={user} busy={busy} act={act} />}
      {node && now.length === 0 && <p class="lead">Nothing yet. State a fact below, or tell an agent that uses this memory.</p>}
      <ul class="about-you">
        {now.map((fact) => <Known key={fact.id} fact={fact} busy={busy} act={act} />)}
      </ul>
      {node && <State node={node} busy={busy} act={act} />}
      {ended.length > 0 && (
        <details class="earlier">
          <summary>What no longer holds ({ended.length})</summary>
          <ul class="about-you">
            {ended.map((fact) => (
              <li key={fact.id} class="card ended">
                <p class="about-said"><span class="predicate">{plain(fact.predicate)}</span> <del>{fact.object_title ?? fact.value}</del></p>
                <p class="muted">{fact.status}{fact.valid_until !== null && `, until ${onShortDay(fact.valid_until)}`}</p>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

type Act = (work: () => Promise<unknown>) => Promise<void>;

function Known({ fact, busy, act }: { fact: Stated; busy: boolean; act: Act }): JSX.Element {
  const [draft, setDraft] = useState<string | null>(null);
  const value = fact.object_title ?? fact.value ?? "";
  const said = plain(fact.predicate);
  const correct = async (): Promise<void> => {
    const better = draft?.trim() ?? "";
    if (!better || better === value) return setDraft(null);
    await act(async () => {
      await ask<Fact>("fact", { subject: fact.subject, predicate: fact.predicate, object: better });
      await ask<Fact>("retract", { id: fact.id });
    });
    setDraft(null);
  };
  return (
    <li class="card">
      {draft === null ? (
        <p class="about-said">
          <span class="predicate">{said}</span>{" "}
          {fact.object ? <a href={link("node", fact.object)}>{value}</a> : <b>{value}</b>}
          {fact.status === "staged" && <span class="related-mark">not confirmed</span>}
        </p>
      ) : (
        <form class="row" onSubmit={(event) => { event.preventDefault(); void correct(); }}>
          <label class="field-inline grow">
            <span class="predicate">{said}</span>
            <input value={draft} ref={(field) => field?.focus()} onInput={(event) => setDraft(event.currentTarget.value)} />
          </label>
          <Button type="submit" look="strong" disabled={busy}>Save</Button>
          <Button onClick={() => setDraft(null)}>Cancel</Button>
        </form>
      )}
      <p class="muted about-source">
        {fact.origin ? <>from <a href={link("node", fact.origin.id)}>{fact.origin.source ?? "a memory"}</a>: “{fact.origin.text}”</> : "stated directly"}
        {", "}
        <time dateTime={isoOf(fact.valid_from ?? fact.created)}>{onShortDay(fact.valid_from ?? fact.created)}</time>
      </p>
      {draft === null && (
        <p class="row about-tools">
          {fact.status === "staged" && <Button icon="check" label={`Confirm ${said} ${value}`} disabled={busy} onClick={() => void act(() => ask<Fact>("confirm", { id: fact.id }))}>Confirm</Button>}
          <Button icon="edit" label={`Correct ${said} ${value}`} look="quiet" disabled={busy} onClick={() => setDraft(value)}>Correct</Button>
          <Button icon="close" label={`Retract ${said} ${value}`} look="quiet" disabled={busy} onClick={() => void act(() => ask<Fact>("retract", { id: fact.id }))}>Retract</Button>
        </p>
      )}
    </li>
  );
}

/** A new fact about the user. */
function State({ node, busy, act }: { node: Node; busy: boolean; act: Act }): JSX.Element {
  const [predicate, setPredicate] = useState("");
  const [value, setValue] = useState("");
  const state = async (): Promise<void> => {
    await act(() => ask<Fact>("fact", { subject: node.id, predicate: predicate.trim().replace(/\s+/g, "_"), object: value.trim() }));
    setPredicate("");
    setValue("");
  };
  return (
    <form class="card state-fact" aria-label="State a fact" onSubmit={(event) => { event.preventDefault(); void state(); }}>
      <div class="pair">
        <label class="field">What about you<input required value={predicate} placeholder="lives in" onInput={(event) => setPredicate(event.currentTarget.value)} /></label>
        <label class="field">Value<input required value={value} placeholder="Turin" onInput={(event) => setValue(event.currentTarget.value)} /></label>
      </div>
      <p class="row end"><Button type="submit" disabled={busy || !predicate.trim() || !value.trim()}>State it</Button></p>
    </form>
  );
}

/** For a memory that does not know its user: one name makes a person. */
function Introduce({ user, busy, act }: { user: string; busy: boolean; act: Act }): JSX.Element {
  const [name, setName] = useState("");
  const save = (): Promise<void> => act(() => ask<Node>("add", { kind: "person", name: name.trim(), aliases: name.trim().toLowerCase() === user.toLowerCase() ? [] : [user] }));
  return (
    <form class="card introduce" onSubmit={(event) => { event.preventDefault(); void save(); }}>
      <p>This memory has no person for you yet, so it cannot tell which facts are yours.</p>
      <div class="row">
        <label class="field-inline grow">Your name<input required autocomplete="name" value={name} onInput={(event) => setName(event.currentTarget.value)} /></label>
        <Button type="submit" look="strong" disabled={busy || !name.trim()}>That is me</Button>
      </div>
    </form>
  );
}
