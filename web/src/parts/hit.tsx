/** A search result: its text, its source, and why it was found. */

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";

import type { Hit, Node } from "../api";
import { link } from "../route";
import { ago, energy, isoOf, onDay, readable, shownTime } from "../words";
import { Bucket, Button, Kind, Marked, Meter, Tag } from "./basics";
import { foundBy, Lines, WhyPath } from "./why";

interface Props {
  hit: Hit;
  cue: string;
  words: string[];
  /** The best score of its list. */
  best: number;
  starts: Map<string, number>;
}

export function HitCard({ hit, cue, words, best, starts }: Props): JSX.Element {
  const [open, setOpen] = useState(false);
  const why = useId();
  const node = hit.node;
  return (
    <article class="card hit" data-id={node.id}>
      {hit.mark && <p class="notice">{hit.mark}</p>}
      <MemoryHead node={node} words={words} />
      {hit.why.lines && hit.why.lines.length > 0 && <Lines lines={hit.why.lines} />}
      <footer class="card-foot">
        <Meter share={best > 0 ? hit.score / best : 0} text={energy(hit.score)} of="Score" />
        <span class="found-by">{foundBy(hit)}</span>
        <button
          type="button"
          class="button quiet why-button"
          aria-expanded={open}
          aria-controls={why}
          data-why
          onClick={() => setOpen(!open)}
        >
          {open ? "Hide why" : "Why?"}
        </button>
      </footer>
      <div id={why} hidden={!open}>
        {open && <WhyPath hit={hit} cue={cue} starts={starts} />}
      </div>
    </article>
  );
}

const LONG = 320;

/** The title as a link, then the text, the source and the tags that people gave. */
export function MemoryHead({ node, words = [] }: { node: Node; words?: string[] }): JSX.Element {
  const [whole, setWhole] = useState(false);
  const said = readable(node.text);
  const long = said.length > LONG + 80;
  const text = long && !whole ? `${said.slice(0, LONG).trimEnd()}…` : said;
  return (
    <>
      <header class="card-head">
        <Kind kind={node.kind} />
        {node.source && (
          <span class="source" title={node.source}>
            {node.source}
          </span>
        )}
        <time dateTime={isoOf(node.at)} title={onDay(shownTime(node))}>
          {ago(node)}
        </time>
      </header>
      <h3 class={node.name ? "card-name" : "card-text"}>
        <a href={link("node", node.id)} data-hit>
          <Marked text={node.name ?? text} words={words} />
        </a>
      </h3>
      {node.name && node.text && (
        <p class="card-text">
          <Marked text={text} words={words} />
        </p>
      )}
      {long && (
        <Button look="quiet" onClick={() => setWhole(!whole)} expanded={whole}>
          {whole ? "Show less" : "Show all of it"}
        </Button>
      )}
      <Labels node={node} />
    </>
  );
}

const SHOWN = 6;

export function Labels({ node }: { node: Node }): JSX.Element | null {
  const { tags } = node;
  if (!tags.length && !node.buckets.length) return null;
  return (
    <p class="labels">
      {node.buckets.map((name) => (
        <Bucket name={name} key={name} />
      ))}
      {tags.slice(0, SHOWN).map((name) => (
        <Tag name={name} key={name} />
      ))}
      {tags.length > SHOWN && <span class="muted">and {tags.length - SHOWN} more</span>}
    </p>
  );
}
