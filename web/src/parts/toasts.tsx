/** What is being forgotten, with the seconds that are left to undo it. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { dismiss, type Doing, undo, useForgetting } from "../forgetting";
import { Button } from "./basics";

export function Toasts(): JSX.Element {
  const doing = useForgetting();
  return (
    <div class="toasts" role="region" aria-label="Forgetting" aria-live="polite">
      {doing.map((one) => <Toast one={one} key={one.number} />)}
    </div>
  );
}

const nameOf = (path: string): string => path.split(/[\\/]/).pop() ?? path;

const LINGERS = 8000;

function Toast({ one }: { one: Doing }): JSX.Element {
  const [now, setNow] = useState(Date.now());
  const waits = one.until !== null;
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [waits]);
  // What there is to do stays until it was read.
  const lingers = one.outcome !== "" && !one.failed && one.files.length === 0;
  useEffect(() => {
    if (!lingers) return undefined;
    const timer = setTimeout(() => dismiss(one.number), LINGERS);
    return () => clearTimeout(timer);
  }, [lingers]);
  const left = Math.max(0, Math.ceil(((one.until ?? now) - now) / 1000));
  return (
    <div class={`toast ${one.failed ? "failed" : ""}`}>
      <p>
        {waits ? <>Forgetting {one.title} in <b aria-hidden="true">{left} s</b></> : one.outcome || `Forgetting ${one.title}…`}
        {one.files.length > 0 && !one.failed && (
          <span class="toast-files">
            {one.files.length === 1 ? <>The file <b>{nameOf(one.files[0]!)}</b> on your disk still holds the text.</> : <>{one.files.length} files on your disk still hold the text: <b>{one.files.slice(0, 2).map(nameOf).join(", ")}</b>{one.files.length > 2 && " and others"}.</>}{" "}
            It will not be taken in again; delete it there too if it must go.
          </span>
        )}
      </p>
      {waits ? <Button onClick={() => undo(one.number)}>Undo</Button> : one.outcome && <Button icon="close" label="Close this message" look="quiet" onClick={() => dismiss(one.number)} />}
    </div>
  );
}
