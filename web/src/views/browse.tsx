/** People's tags first, then buckets, kinds and automatic tags, with the number of their memories. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, askFor, type Stats } from "../api";
import { useAsked, useTitle } from "../hooks";
import { Button, Empty, Failure, Loading } from "../parts/basics";
import { TagTable } from "../parts/tag_table";
import { useHiddenTags } from "../parts/tags";
import { link } from "../route";
import { count, isTime, many, plain } from "../words";

interface Label {
  name: string;
  nodes: number;
}

export function BrowseView(): JSX.Element {
  useTitle("Browse");
  const found = useAsked("browse", async (signal) => {
    const [tags, automatic, buckets, stats] = await Promise.all([
      askFor<Label[]>("labels", { what: "tag", limit: 2000 }, signal),
      askFor<Label[]>("labels", { what: "automatic", limit: 2000 }, signal),
      askFor<Label[]>("labels", { what: "bucket" }, signal),
      ask<Stats>("stats", {}, signal),
    ]);
    return { tags, automatic, buckets, stats };
  });
  if (found.loading) return <Loading what="labels" rows={4} />;
  if (found.problem) return <Failure problem={found.problem} again={found.again} />;
  if (!found.data) return <></>;
  const { tags, automatic, buckets, stats } = found.data;
  if (!stats.nodes) {
    return (
      <Empty title="This memory is empty">
        <p>Buckets and tags come with what you add or ingest, and dreams find more.</p>
      </Empty>
    );
  }
  return (
    <>
      <header class="view-head">
        <h1>Browse</h1>
      </header>
      <OwnTags tags={tags} kinds={Object.keys(stats.kinds)} again={found.again} />
      <Buckets buckets={buckets} />
      <Kinds kinds={stats.kinds} />
      <AutomaticTags tags={automatic} />
    </>
  );
}

function Buckets({ buckets }: { buckets: Label[] }): JSX.Element {
  const most = Math.max(...buckets.map((one) => one.nodes), 1);
  return (
    <section class="part" aria-label="Buckets">
      <h2>Buckets</h2>
      {buckets.length === 0 && <p class="muted">There are none. A folder that is ingested becomes one.</p>}
      <ul class="tiles">
        {buckets.map((one) => (
          <li key={one.name}>
            <a class="tile" href={link("timeline", "", { bucket: one.name })}>
              <b>{one.name}</b>
              <span>{many(one.nodes, "memory", "memories")}</span>
              <i style={{ width: `${(100 * one.nodes) / most}%` }} aria-hidden="true" />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const KINDS: Record<string, string> = { atom: "passages", source: "notes and files", person: "people", entity: "things and places", concept: "concepts", episode: "sittings", storyline: "storylines" };

function Kinds({ kinds }: { kinds: Record<string, number> }): JSX.Element {
  return (
    <section class="part" aria-label="Kinds">
      <h2>Kinds</h2>
      <ul class="cloud">
        {Object.entries(kinds).map(([kind, nodes]) => (
          <li key={kind}>
            <a class="pick" href={link("timeline", "", { kind })}>{KINDS[kind] ?? plain(kind)} <span>{count(nodes)}</span></a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const SHOWN = 200;

const wantedOf = (word: string): string => word.trim().toLowerCase().replace(/^#/, "").replaceAll(" ", "_");

/** The tags that people gave, to look through, rename and hide. */
function OwnTags({ tags, kinds, again }: { tags: Label[]; kinds: string[]; again: () => void }): JSX.Element {
  const [word, setWord] = useState("");
  const [tending, setTending] = useState(false);
  const hidden = useHiddenTags();
  const fitting = tags.filter((one) => one.name.includes(wantedOf(word)) && (tending || !hidden.has(one.name)));
  return (
    <section class="part" aria-label="Your tags">
      <h2>Your tags</h2>
      {tags.length === 0 && <p class="muted">Nobody has given a tag yet. Give one while writing or editing a memory, or to selected results of a search.</p>}
      {tags.length > 0 && (
        <p class="row tag-tools">
          {tags.length > 12 && <TagFilter word={word} setWord={setWord} />}
          <Button look="quiet" icon="edit" pressed={tending} onClick={() => setTending(!tending)}>{tending ? "Done" : "Rename or hide"}</Button>
          {!tending && hidden.size > 0 && <span class="muted">{many(hidden.size, "tag")} hidden on this page</span>}
        </p>
      )}
      {tags.length > 0 && fitting.length === 0 && <p class="muted">No tag is called so.</p>}
      {tending ? <TagTable tags={fitting} kinds={kinds} again={again} /> : <Cloud tags={fitting} />}
    </section>
  );
}

function TagFilter({ word, setWord }: { word: string; setWord: (word: string) => void }): JSX.Element {
  return (
    <label class="field-inline tag-filter">
      Find a tag
      <input type="search" value={word} onInput={(event) => setWord(event.currentTarget.value)} placeholder="radio" />
    </label>
  );
}

function AutomaticTags({ tags }: { tags: Label[] }): JSX.Element | null {
  const [word, setWord] = useState("");
  const hidden = useHiddenTags();
  const fitting = tags.filter((one) => one.name.includes(wantedOf(word)) && !hidden.has(one.name));
  const times = fitting.filter((one) => isTime(one.name));
  const topics = fitting.filter((one) => !isTime(one.name));
  if (!tags.length) return null;
  return (
    <section class="part" aria-label="Automatic tags">
      <h2>Automatic tags</h2>
      <TagFilter word={word} setWord={setWord} />
      {fitting.length === 0 && <p class="muted">No tag is called so.</p>}
      {topics.length > 0 && <h3 class="sub">From paths and texts</h3>}
      <Cloud tags={topics} />
      {times.length > 0 && (
        <details class="times" open={word !== ""}>
          <summary>By time ({count(times.length)})</summary>
          <Cloud tags={times} />
        </details>
      )}
    </section>
  );
}

function Cloud({ tags }: { tags: Label[] }): JSX.Element {
  const [all, setAll] = useState(false);
  return (
    <>
      <ul class="cloud">
        {(all ? tags : tags.slice(0, SHOWN)).map((one) => (
          <li key={one.name}>
            <a class="pick" href={link("timeline", "", { tag: one.name })}>#{one.name} <span>{count(one.nodes)}</span></a>
          </li>
        ))}
      </ul>
      {!all && tags.length > SHOWN && (
        <p class="more"><button type="button" class="button plain" onClick={() => setAll(true)}>Show {tags.length - SHOWN} more</button></p>
      )}
    </>
  );
}
