/** A search result: its title, the passage, and why it was found. */

import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";

import type { Hit, Node } from "../api";
import { link } from "../route";
import { ago, headingOf, isoOf, isTime, many, noteTitleOf, onDay, shownTime, titleOf } from "../words";
import { Bucket, Button, Kind, Marked, Tag, Told } from "./basics";
import { Passage } from "./passage";
import { reasonOf } from "./reason";
import { useHiddenTags } from "./tags";
import { Lines, WhyPath } from "./why";

interface Props {
  hit: Hit;
  cue: string;
  words: string[];
  hits: Map<string, Hit>;
  starts: Map<string, number>;
  picked: boolean;
  pick: (picked: boolean) => void;
}

export function HitCard({ hit, cue, words, hits, starts, picked, pick }: Props): JSX.Element {
  const [open, setOpen] = useState(false);
  const why = useId();
  const node = hit.node;
  return (
    <article class={`card hit ${hit.direct ? "direct" : "related"} ${picked ? "picked" : ""}`} data-id={node.id}>
      {hit.mark && <p class="notice outdated"><Told text={`No longer so: ${hit.mark}`} /></p>}
      <MemoryHead node={node} words={words}>
        {!hit.direct && <span class="related-mark" title="It does not match your words itself: something that does leads to it">related</span>}
        <label class="pick-one">
          <input type="checkbox" checked={picked} onChange={(event) => pick(event.currentTarget.checked)} />
          <span class="unseen">Select {titleOf(node, 60)}</span>
        </label>
      </MemoryHead>
      {hit.why.lines && hit.why.lines.length > 0 && <Lines lines={hit.why.lines} />}
      <Folded more={hit.more} words={words} />
      <footer class="card-foot">
        <span class="reason">{reasonOf(hit, words, hits)}</span>
        <button type="button" class="button quiet why-button" aria-expanded={open} aria-controls={why} data-why onClick={() => setOpen(!open)}>
          {open ? "Hide why" : "Why?"}
        </button>
      </footer>
      <div id={why} hidden={!open}>
        {open && <WhyPath hit={hit} cue={cue} starts={starts} />}
      </div>
    </article>
  );
}

/** Other passages of the same note, folded. */
function Folded({ more, words }: { more: Hit[]; words: string[] }): JSX.Element | null {
  const [open, setOpen] = useState(false);
  if (!more.length) return null;
  return (
    <div class="folded">
      <Button icon="down" look="quiet" expanded={open} onClick={() => setOpen(!open)}>{many(more.length, "more passage", "more passages")} of this {more[0]!.node.props["speaker"] ? "conversation" : "note"}</Button>
      {open && (
        <ul>
          {more.map(({ node, mark }) => (
            <li key={node.id}>
              <a class="folded-title" href={link("node", node.id)} data-hit>{headingOf(node) || "Open this passage"}</a>
              {mark && <p class="notice outdated">No longer so: {mark}</p>}
              <Passage text={node.text} words={words} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The title as a link, then where it is from, the text, and the tags that people gave. */
export function MemoryHead({ node, words = [], most, children }: { node: Node; words?: string[]; most?: number; children?: ComponentChildren }): JSX.Element {
  const heading = headingOf(node);
  const title = noteTitleOf(node);
  return (
    <>
      <header class="card-top">
        <h3 class="card-name">
          <a href={link("node", node.id)} data-hit>
            {title ? <Marked text={title} words={words} /> : titleOf(node, 70)}
            {heading && <><span class="sep"> › </span><span class="card-heading"><Marked text={heading} words={words} /></span></>}
          </a>
        </h3>
        {children}
      </header>
      <p class="card-head">
        {node.kind !== "atom" && <Kind kind={node.kind} />}
        {node.source && <span class="source">{node.source}</span>}
        <time dateTime={isoOf(node.at)} title={onDay(shownTime(node))}>{ago(node)}</time>
      </p>
      {node.text && <Passage text={node.text} words={words} {...(most !== undefined && { most })} />}
      <Labels node={node} />
    </>
  );
}

const OWN = 5;
const AUTOMATIC = 2;

/** A few labels: people's own first. Of automatic ones only some that say what it is about. */
export function Labels({ node }: { node: Node }): JSX.Element | null {
  const hidden = useHiddenTags();
  const own = node.tags.filter((tag) => !hidden.has(tag));
  const telling = node.automatic_tags.filter((tag) => !own.includes(tag) && !hidden.has(tag) && !isTime(tag) && !/^(doc|note|file|chat)$|:/.test(tag));
  const automatic = own.length >= AUTOMATIC ? [] : telling.slice(0, AUTOMATIC);
  // A bucket that is the folder of the file says nothing new.
  const buckets = node.buckets.filter((name) => !node.source?.toLowerCase().startsWith(`${name}/`)).slice(0, 2);
  if (!own.length && !automatic.length && !buckets.length) return null;
  return (
    <p class="labels">
      {own.slice(0, OWN).map((name) => <Tag name={name} key={name} />)}
      {own.length > OWN && <span class="muted">and {own.length - OWN} more</span>}
      {buckets.map((name) => <Bucket name={name} key={name} />)}
      {automatic.map((name) => <Tag name={name} origin="auto" key={name} />)}
    </p>
  );
}

