/** The edges of a memory, and the dialog that adds or changes one. Edges that rules made can only be read. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { ask, type Problem } from "../api";
import { asProblem } from "../hooks";
import { link } from "../route";
import { energy, many, plain, snippet } from "../words";
import { Button, Failure, Meter } from "./basics";
import { Dialog } from "./dialog";
import { NamePicker, type Picked } from "./pick_name";

export interface Tie {
  edge: string;
  kind: string;
  type: string | null;
  text: string;
  weight: number | null;
  tags: string[];
  outgoing: boolean;
  /** True if a person or an agent stated it, false if a rule made it. */
  stated: boolean;
  node: { id: string; kind: string; title: string };
}

/** Edges in plain words, seen from either end. */
const TIES: Record<string, [outgoing: string, incoming: string]> = {
  links: ["links to", "linked from"],
  mentions: ["mentions", "mentioned in"],
  co_occurs: ["named together with", "named together with"],
  under: ["part of", "its passage"],
  next: ["before", "after"],
  during: ["in the sitting", "in this sitting"],
};

interface LinksProps {
  id: string;
  title: string;
  ties: Tie[];
  degree: number;
  mine: boolean;
  again: () => void;
}

export function Links({ id, title, ties, degree, mine, again }: LinksProps): JSX.Element {
  const [open, setOpen] = useState<Tie | "new" | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const remove = (tie: Tie): void => {
    setProblem(undefined);
    ask("unlink", { ids: [tie.edge] }).then(again, (error: unknown) => setProblem(asProblem(error)));
  };
  return (
    <section class="part">
      <header class="part-head">
        <h2>Joined to</h2>
        {mine && <Button icon="plus" look="quiet" onClick={() => setOpen("new")}>Add a link</Button>}
      </header>
      {ties.length === 0 && <p class="muted">Nothing yet. Dreams find what belongs together.</p>}
      {problem && <Failure problem={problem} />}
      <ul class="ties">
        {ties.map((tie) => (
          <li key={tie.edge}>
            <span class="tie-kind">{tie.outgoing ? "→" : "←"} {tie.type ? plain(tie.type) : (TIES[tie.kind]?.[tie.outgoing ? 0 : 1] ?? plain(tie.kind))}</span>
            <a href={link("node", tie.node.id)}>{snippet(tie.node.title)}</a>
            {tie.text && <span class="muted">{tie.text}</span>}
            <Meter share={tie.weight ?? 0} text={tie.weight === null ? "?" : energy(tie.weight)} of="Weight" />
            {mine && tie.stated && (
              <span class="tie-tools">
                <Button icon="edit" look="quiet" label={`Change the link to ${snippet(tie.node.title, 60)}`} onClick={() => setOpen(tie)} />
                <Button icon="close" look="quiet" label={`Remove the link to ${snippet(tie.node.title, 60)}`} onClick={() => remove(tie)} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {degree > ties.length && <p class="muted">The strongest {ties.length} of {many(degree, "edge")}.</p>}
      {open && <LinkDialog id={id} title={title} tie={open === "new" ? undefined : open} onClose={() => setOpen(null)} onDone={() => { setOpen(null); again(); }} />}
    </section>
  );
}

interface DialogProps {
  id: string;
  title: string;
  /** Without one, a new link is made. */
  tie: Tie | undefined;
  onClose: () => void;
  onDone: () => void;
}

function LinkDialog({ id, title, tie, onClose, onDone }: DialogProps): JSX.Element {
  const [to, setTo] = useState<Picked>({ id: tie?.node.id ?? "", title: tie?.node.title ?? "" });
  const [draft, setDraft] = useState({ type: tie?.type ?? "", text: tie?.text ?? "", weight: String(tie?.weight ?? 0.5) });
  const [problem, setProblem] = useState<Problem>();
  const save = (): void => {
    setProblem(undefined);
    const other = to.id || to.title.trim();
    const [src, dst] = tie && !tie.outgoing ? [other, id] : [id, other];
    const given = { src, dst, type: draft.type.trim() || null, text: draft.text, weight: Number(draft.weight), ...(tie && { kind: tie.kind, tags: tie.tags }) };
    ask("link", given).then(onDone, (error: unknown) => setProblem(asProblem(error)));
  };
  return (
    <Dialog title={tie ? "Change this link" : "Add a link"} onClose={onClose}>
      <form class="stack" onSubmit={(event) => { event.preventDefault(); save(); }}>
        <p class="muted">{tie && !tie.outgoing ? <>From <b>{tie.node.title}</b> to <b>{title}</b></> : tie ? <>From <b>{title}</b> to <b>{tie.node.title}</b></> : <>From <b>{title}</b></>}</p>
        {!tie && <NamePicker label="To" not={id} picked={to} pick={setTo} />}
        <label class="field">
          How
          <input value={draft.type} placeholder="optional, such as built by" data-first={tie ? true : undefined} onInput={(event) => setDraft({ ...draft, type: event.currentTarget.value })} />
        </label>
        <label class="field">
          Why
          <input value={draft.text} placeholder="optional, a sentence" onInput={(event) => setDraft({ ...draft, text: event.currentTarget.value })} />
        </label>
        <label class="field">
          Strength {draft.weight}
          <input type="range" min="0.05" max="1" step="0.05" value={draft.weight} onInput={(event) => setDraft({ ...draft, weight: event.currentTarget.value })} />
        </label>
        {problem && <Failure problem={problem} />}
        <footer class="row end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="strong" disabled={!to.title.trim()}>{tie ? "Save" : "Add the link"}</Button>
        </footer>
      </form>
    </Dialog>
  );
}
