/** Dreams: reports of the last ones, a dry run of the next, and a button to run one. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { askFor, follow, type Problem, type Progress } from "../api";
import { asProblem, useAsked, useTitle } from "../hooks";
import { Button, Empty, Failure, Loading, Told } from "../parts/basics";
import { link } from "../route";
import { atTime, count, isoOf, many, onDay, plain } from "../words";

interface Pass {
  name: string;
  read: number;
  wrote: number;
  removed: number;
  seconds: number;
  changes: string[];
  problems: string[];
}

interface Report {
  passes: Pass[];
  skipped: boolean;
  dry_run: boolean;
  seconds: number;
  notices: string[];
}

/** What the passes do, in the order in which people want to know it, and what each found in words. */
const LEARNT: Record<string, { does: string; said: (wrote: number) => string; to?: [view: string, query: Record<string, string>] }> = {
  facts: { does: "facts confirmed and retracted", said: (n) => `${many(n, "fact")} confirmed or retracted by newer texts`, to: ["you", {}] },
  storylines: { does: "what is told over time", said: (n) => `${many(n, "part")} of stories that go on over time`, to: ["timeline", { kind: "storyline" }] },
  macros: { does: "storylines of one anchor", said: (n) => `${many(n, "part")} of longer stories`, to: ["timeline", { kind: "macro" }] },
  cooccurrence: { does: "edges between names", said: (n) => `${many(n, "new connection")} between names, worth a look`, to: ["timeline", { kind: "entity" }] },
  mentions: { does: "edges to what is named", said: (n) => `${many(n, "place", "places")} where texts mention people and things` },
  known_as: { does: "names that others use for a text", said: (n) => `${many(n, "other name")} by which people call a text` },
  auto_tags: { does: "tags of names and phrases", said: (n) => `${many(n, "tag")} that texts share, given`, to: ["browse", {}] },
  infection: { does: "tags that texts name", said: (n) => `${many(n, "tag")} that texts themselves name, given`, to: ["browse", {}] },
  episodes: { does: "what happened in one sitting", said: (n) => `${many(n, "text")} put together with what was written in the same sitting`, to: ["timeline", { kind: "episode" }] },
  consolidation: { does: "summaries of files", said: (n) => `${many(n, "note")} summed up` },
  temporal: { does: "labels of times", said: (n) => `${many(n, "label")} of days, months and seasons` },
  decay: { does: "what nobody uses fades", said: (n) => `${many(n, "memory that nobody uses fades", "memories that nobody uses fade")} a little` },
  note_expiry: { does: "notes whose time is over", said: (n) => `${many(n, "note whose time is over is", "notes whose time is over are")} gone` },
  mirror: { does: "folders kept in step", said: (n) => `${many(n, "mirrored file")} brought up to date` },
};

const ORDER = Object.keys(LEARNT);

export function DreamsView(): JSX.Element {
  useTitle("Dreams");
  const past = useAsked("dreams", (signal) => askFor<{ at: number; report: Report }[]>("dreams", {}, signal));
  const [busy, setBusy] = useState<"dream" | "rehearse" | null>(null);
  const [rehearsed, setRehearsed] = useState<Report>();
  const [problem, setProblem] = useState<Problem>();
  const [progress, setProgress] = useState<Progress>();
  const dream = async (dry: boolean): Promise<void> => {
    setBusy(dry ? "rehearse" : "dream");
    setProblem(undefined);
    setRehearsed(undefined);
    try {
      const [report] = await follow<Report>("dream", { dry_run: dry }, (_, progress) => setProgress(progress));
      if (report && (dry || report.skipped)) setRehearsed(report);
      if (!dry) past.again();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(null);
    setProgress(undefined);
  };
  return (
    <>
      <header class="view-head">
        <h1>Dreams</h1>
        <div class="row">
          <Button disabled={busy !== null} onClick={() => void dream(true)}>{busy === "rehearse" ? "Looking…" : "What would it do?"}</Button>
          <Button look="strong" icon="dreams" disabled={busy !== null} onClick={() => void dream(false)}>{busy === "dream" ? "Dreaming…" : "Dream now"}</Button>
        </div>
      </header>
      <p class="lead">A dream reads what changed since the last one and finds what belongs together. It never touches a tag of yours.</p>
      {problem && <Failure problem={problem} />}
      {busy && (
        <p class="at-work" role="status">
          {progress ? `${plain(progress.step)}: ${count(progress.done)}${progress.total ? ` of ${count(progress.total)}` : ""}` : "Falling asleep…"}
          <progress {...(progress?.total ? { value: progress.done, max: progress.total } : {})} aria-label="How far it is" />
        </p>
      )}
      {rehearsed && (
        <section class="card" aria-label="What a dream would do">
          <h2 class="report-title">{rehearsed.skipped ? "Another dream is at work; this one was skipped." : "What a dream would do now"}</h2>
          {!rehearsed.skipped && <Learnt report={rehearsed} />}
        </section>
      )}
      {past.loading && !past.data && <Loading what="dreams" rows={2} />}
      {past.problem && <Failure problem={past.problem} again={past.again} />}
      {past.data?.length === 0 && !rehearsed && (
        <Empty title="Nothing was dreamt yet">
          <p>Dream now, or let it happen by itself: <code>cuetrail dream --every 1h</code></p>
        </Empty>
      )}
      <div class="list">
        {past.data?.map(({ at, report }, number) => (
          <article class="card" key={at}>
            <h2 class="report-title">
              <time dateTime={isoOf(at)}>{onDay(at)}, {atTime(at)}</time>
              <span class="muted">{report.seconds < 1 ? "under a second" : `${Math.round(report.seconds)} s`}</span>
            </h2>
            {number === 0 ? (
              <Learnt report={report} />
            ) : (
              <details>
                <summary>{summed(report)}</summary>
                <Learnt report={report} />
              </details>
            )}
          </article>
        ))}
      </div>
    </>
  );
}

/** What the passes of a report did, the most telling first. */
function learnt(report: Report): { pass: Pass; said: string; to: string | null }[] {
  const place = (one: Pass): number => (ORDER.includes(one.name) ? ORDER.indexOf(one.name) : ORDER.length);
  return report.passes
    .filter((one) => one.wrote || one.removed)
    .sort((a, b) => place(a) - place(b))
    .map((pass) => {
      const known = LEARNT[pass.name];
      const said = !known ? `${plain(pass.name)}: ${count(pass.wrote)}` : known.said(pass.wrote || pass.removed);
      const gone = pass.wrote && pass.removed ? `, and ${count(pass.removed)} taken back` : !pass.wrote ? ", taken back" : "";
      const own = pass.name === "note_expiry" || pass.name === "decay";
      return { pass, said: own ? said : said + gone, to: known?.to ? link(known.to[0], "", known.to[1]) : null };
    });
}

function summed(report: Report): string {
  const found = learnt(report);
  return found.length ? found.slice(0, 2).map((one) => one.said).join("; ") : "Nothing had changed";
}

function Learnt({ report }: { report: Report }): JSX.Element {
  const found = learnt(report);
  const troubles = [...report.notices, ...report.passes.flatMap((one) => one.problems)];
  const examples = report.passes.flatMap((one) => one.changes.slice(0, 4));
  return (
    <>
      {found.length === 0 && <p class="muted">Nothing had changed since the dream before.</p>}
      {found.length > 0 && (
        <ul class="learnt">
          {found.map((one) => (
            <li key={one.pass.name}>{one.to ? <a href={one.to}>{one.said}</a> : one.said}</li>
          ))}
        </ul>
      )}
      {troubles.map((text) => <p class="notice" key={text}><Told text={text} /></p>)}
      {examples.length > 0 && (
        <details class="changes">
          <summary>For example</summary>
          <ul>{examples.slice(0, 24).map((line) => <li key={line}>{line}</li>)}</ul>
        </details>
      )}
      {found.length > 0 && (
        <details class="changes">
          <summary>Pass by pass</summary>
          <Passes report={report} />
        </details>
      )}
    </>
  );
}

function Passes({ report }: { report: Report }): JSX.Element {
  const did = report.passes.filter((one) => one.wrote || one.removed || one.problems.length);
  return (
    <table class="passes">
      <thead>
        <tr><th scope="col">Pass</th><th scope="col">Read</th><th scope="col">Written</th><th scope="col">Removed</th></tr>
      </thead>
      <tbody>
        {did.map((one) => (
          <tr key={one.name}>
            <th scope="row">{plain(one.name)} <span class="muted">{LEARNT[one.name]?.does}</span></th>
            <td>{count(one.read)}</td>
            <td>{count(one.wrote)}</td>
            <td>{count(one.removed)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
