/** Dreams: reports of the last ones, a dry run of the next, and a button to run one. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { askFor, follow, type Problem, type Progress } from "../api";
import { asProblem, useAsked, useTitle } from "../hooks";
import { Button, Empty, Failure, Loading, Told } from "../parts/basics";
import { atTime, count, isoOf, onDay, plain } from "../words";

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

const DOES: Record<string, string> = {
  temporal: "labels of times",
  auto_tags: "tags of names and phrases",
  infection: "tags that texts name",
  mentions: "edges to what is named",
  known_as: "names that others use for a text",
  cooccurrence: "edges between names",
  episodes: "what happened in one sitting",
  consolidation: "summaries of files",
  storylines: "what is told over time",
  macros: "storylines of one anchor",
  decay: "what nobody uses fades",
  note_expiry: "notes whose time is over",
  facts: "facts confirmed and retracted",
  mirror: "folders kept in step",
};

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
          {!rehearsed.skipped && <Passes report={rehearsed} />}
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
              <Passes report={report} />
            ) : (
              <details>
                <summary>{summed(report)}</summary>
                <Passes report={report} />
              </details>
            )}
          </article>
        ))}
      </div>
    </>
  );
}

function summed(report: Report): string {
  const wrote = report.passes.reduce((sum, one) => sum + one.wrote, 0);
  const removed = report.passes.reduce((sum, one) => sum + one.removed, 0);
  return wrote || removed ? `${count(wrote)} written, ${count(removed)} removed` : "Nothing had changed";
}

function Passes({ report }: { report: Report }): JSX.Element {
  const did = report.passes.filter((one) => one.wrote || one.removed || one.problems.length);
  if (!did.length) return <p class="muted">Nothing had changed since the dream before.</p>;
  const most = Math.max(...did.map((one) => one.wrote + one.removed));
  return (
    <>
      <table class="passes">
        <thead>
          <tr><th scope="col">Pass</th><th scope="col">Read</th><th scope="col">Written</th><th scope="col">Removed</th><th scope="col" class="bar-cell">Share</th></tr>
        </thead>
        <tbody>
          {did.map((one) => (
            <tr key={one.name}>
              <th scope="row">{plain(one.name)} <span class="muted">{DOES[one.name]}</span></th>
              <td>{count(one.read)}</td>
              <td>{count(one.wrote)}</td>
              <td>{count(one.removed)}</td>
              <td class="bar-cell"><span class="meter-bar" aria-hidden="true"><i style={{ width: `${(100 * (one.wrote + one.removed)) / most}%` }} /></span></td>
            </tr>
          ))}
        </tbody>
      </table>
      {[...report.notices, ...did.flatMap((one) => one.problems)].map((text) => (
        <p class="notice" key={text}><Told text={text} /></p>
      ))}
      {did.some((one) => one.changes.length) && (
        <details class="changes">
          <summary>The first changes</summary>
          {did.filter((one) => one.changes.length).map((one) => (
            <div key={one.name}>
              <h3 class="sub">{plain(one.name)}</h3>
              <ul>{one.changes.slice(0, 12).map((line) => <li key={line}>{line}</li>)}</ul>
            </div>
          ))}
        </details>
      )}
    </>
  );
}
