/** Buckets, kinds, people's tags and automatic tags with the number of their memories. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, askFor, type Stats } from "../api";
import { useAsked, useTitle } from "../hooks";
import { Empty, Failure, Loading } from "../parts/basics";
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
      <Buckets buckets={buckets} />
      <Kinds kinds={stats.kinds} />
      <Tags tags={tags} automatic={automatic} />
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

function Kinds({ kinds }: { kinds: Record<string, number> }): JSX.Element {
  return (
    <section class="part" aria-label="Kinds">
      <h2>Kinds</h2>
      <ul class="cloud">
        {Object.entries(kinds).map(([kind, nodes]) => (
          <li key={kind}>
            <a class="pick" href={link("timeline", "", { kind })}>{plain(kind)} <span>{count(nodes)}</span></a>
          </li>
        ))}
      </ul>
    </section>
  );
}

const SHOWN = 200;

function Tags({ tags, automatic }: { tags: Label[]; automatic: Label[] }): JSX.Element {
  const [word, setWord] = useState("");
  const wanted = word.trim().toLowerCase().replace(/^#/, "").replaceAll(" ", "_");
  const fitting = (some: Label[]): Label[] => some.filter((one) => one.name.includes(wanted));
  const own = fitting(tags);
  const byRule = fitting(automatic);
  const times = byRule.filter((one) => isTime(one.name));
  const topics = byRule.filter((one) => !isTime(one.name));
  return (
    <section class="part" aria-label="Tags">
      <h2>Tags</h2>
      <label class="field tag-filter">
        Find a tag
        <input type="search" value={word} onInput={(event) => setWord(event.currentTarget.value)} placeholder="radio" />
      </label>
      {own.length + byRule.length === 0 && <p class="muted">No tag is called so.</p>}
      {tags.length === 0 && byRule.length > 0 && <p class="muted">Nobody has given a tag.</p>}
      <Cloud tags={own} />
      {topics.length > 0 && (
        <section aria-label="Automatic tags">
          <h3 class="sub">Automatic, from paths and texts</h3>
          <Cloud tags={topics} />
        </section>
      )}
      {times.length > 0 && (
        <section aria-label="Tags of times">
          <h3 class="sub">Automatic, by time</h3>
          <Cloud tags={times} />
        </section>
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
