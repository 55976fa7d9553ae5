/** A whole note around one of its passages, and the ways to its file. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Markdown } from "../markdown/render";
import { link } from "../route";
import { many } from "../words";
import { Button, Icon } from "./basics";

export interface InNote {
  id: string;
  text: string;
  heading: string | null;
  speaker: string | null;
}

/** The note or conversation that a memory is a passage of. */
export interface Note {
  id: string | null;
  title: string;
  passages: InNote[];
  /** How many passages are left out before and after these. */
  before: number;
  after: number;
}

/** The passages of a note in order. The one at `here` is marked and scrolled to. */
export function WholeNote({ note, here }: { note: Note; here: string }): JSX.Element {
  const marked = useRef<HTMLElement>(null);
  useEffect(() => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    // The first passage is in sight anyway, below the title.
    if (here && note.passages[0]?.id !== here) marked.current?.scrollIntoView({ block: "center", behavior: calm ? "instant" : "smooth" });
  }, [here]);
  return (
    <div class="whole-note">
      {note.before > 0 && <p class="muted">{many(note.before, "passage", "passages")} before this are left out.</p>}
      {note.passages.map((one, at) => (
        <section
          key={one.id}
          ref={one.id === here ? marked : null}
          class={one.id === here && note.passages.length > 1 ? "in-note here" : "in-note"}
          aria-current={one.id === here ? "true" : undefined}
          aria-label={one.id === here ? "The passage that was found" : undefined}
        >
          <Above passage={one} before={note.passages[at - 1]} title={note.title} />
          <div class="node-text">
            {one.speaker && !one.text.startsWith(one.speaker) && <b class="speaker">{one.speaker}</b>}
            <Markdown text={one.text} />
          </div>
          {one.id !== here && <a class="to-passage" href={link("node", one.id)} data-hit aria-label={`Open passage ${note.before + at + 1}`} title="Open this passage">¶</a>}
        </section>
      ))}
      {note.after > 0 && <p class="muted">{many(note.after, "passage", "passages")} after this are left out.</p>}
    </div>
  );
}

/** The headings above a passage, where they differ from those of the passage before it. */
function Above({ passage, before, title }: { passage: InNote; before: InNote | undefined; title: string }): JSX.Element | null {
  if (!passage.heading || passage.heading === before?.heading || passage.heading === title) return null;
  const [path, earlier] = [passage.heading.split(" › "), before?.heading?.split(" › ") ?? []];
  const same = path.findIndex((one, at) => one !== earlier[at]);
  return <h2 class="in-note-heading">{path.slice(Math.max(0, same)).join(" › ")}</h2>;
}

const encodedPath = (path: string): string => path.split(/[\\/]/).map(encodeURIComponent).join("/");

/** Copies a link to this page, and leads to the file in other programs. */
export function Elsewhere({ file }: { file: { path: string; vault: boolean } | null }): JSX.Element {
  return (
    <>
      <Copy text={() => location.href} label="Copy link" icon="link" />
      {file && (
        <>
          <Copy text={() => file.path} label="Copy path" icon="copy" />
          {file.vault && <a class="button quiet" href={`obsidian://open?path=${encodeURIComponent(file.path)}`}><Icon name="open" />Open in Obsidian</a>}
          <a class="button quiet" href={`vscode://file${file.path.startsWith("/") ? "" : "/"}${encodedPath(file.path)}`}><Icon name="open" />Open in editor</a>
        </>
      )}
    </>
  );
}

const SHOWN_MS = 2000;

function Copy({ text, label, icon }: { text: () => string; label: string; icon: "link" | "copy" }): JSX.Element {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <Button look="quiet" icon={copied ? "check" : icon} onClick={() => void navigator.clipboard.writeText(text()).then(() => setCopied(true), () => undefined)}>
      {copied ? "Copied" : label}
    </Button>
  );
}
