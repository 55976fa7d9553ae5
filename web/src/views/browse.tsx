/** Buckets, kinds and tags with the number of their memories. */

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
    const [tags, buckets, stats] = await Promise.all([
      askFor<Label[]>("labels", { what: "tag", limit: 2000 }, signal),
      askFor<Label[]>("labels", { what: "bucket" }, signal),
      ask<Stats>("stats", {}, signal),
    ]);
    return { tags, buckets, stats };
  });
  if (found.loading) return <Loading what="labels" rows={4} />;
  if (found.problem) return <Failure problem={found.problem} again={found.again} />;
  if (!found.data) return <></>;
  const { tags, buckets, stats } = found.data;
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
      <Tags tags={tags} />
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

function Tags({ tags }: { tags: Label[] }): JSX.Element {
  const [word, setWord] = useState("");
  const [all, setAll] = useState(false);
  const fits = tags.filter((one) => one.name.includes(word.trim().toLowerCase().replace(/^#/, "").replaceAll(" ", "_")));
  const times = fits.filter((one) => isTime(one.name));
  const others = fits.filter((one) => !isTime(one.name));
  const list = (some: Label[]): JSX.Element => (
    <ul class="cloud">
      {some.map((one) => (
        <li key={one.name}>
          <a class="pick" href={link("timeline", "", { tag: one.name })}>#{one.name} <span>{count(one.nodes)}</span></a>
        </li>
      ))}
    </ul>
  );
  return (
    <section class="part" aria-label="Tags">
      <h2>Tags</h2>
      <label class="field tag-filter">
        Find a tag
        <input type="search" value={word} onInput={(event) => setWord(event.currentTarget.value)} placeholder="radio" />
      </label>
      {fits.length === 0 && <p class="muted">No tag is called so.</p>}
      {list(all ? others : others.slice(0, SHOWN))}
      {!all && others.length > SHOWN && (
        <p class="more"><button type="button" class="button plain" onClick={() => setAll(true)}>Show {others.length - SHOWN} more</button></p>
      )}
      {times.length > 0 && (
        <>
          <h3 class="sub">By time</h3>
          {list(times)}
        </>
      )}
    </section>
  );
}
