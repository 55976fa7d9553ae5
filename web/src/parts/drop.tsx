/** Files that are dropped on the page are taken in, after a look at what they are. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { upload } from "../api";
import { asProblem } from "../hooks";
import { many } from "../words";
import { Button } from "./basics";
import { Dialog } from "./dialog";

const MOST_BYTES = 64_000_000;

/** Calls `onFiles` for files that are dropped anywhere, and tells while some are held over the page. */
export function useDrop(onFiles: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
    const held = (event: DragEvent): void => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent): void => {
      if (event.relatedTarget === null) setOver(false);
    };
    const dropped = (event: DragEvent): void => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length) onFiles(files);
    };
    addEventListener("dragover", held);
    addEventListener("dragleave", left);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", held);
      removeEventListener("dragleave", left);
      removeEventListener("drop", dropped);
    };
  }, [onFiles]);
  return over;
}

type Outcome = { file: File; said: string; failed: boolean };

export function FilesDialog({ files, onClose }: { files: File[]; onClose: (changed: boolean) => void }): JSX.Element {
  const [done, setDone] = useState<Outcome[]>([]);
  const [busy, setBusy] = useState(false);
  const take = async (): Promise<void> => {
    setBusy(true);
    for (const file of files) {
      const outcome = await taken(file);
      setDone((before) => [...before, outcome]);
    }
    setBusy(false);
  };
  const finished = done.length === files.length;
  return (
    <Dialog title={`Take in ${many(files.length, "file")}`} onClose={() => onClose(done.length > 0)}>
      <p>A file replaces what was taken in before under the same name.</p>
      <ul class="doomed" aria-live="polite">
        {files.map((file, at) => (
          <li key={`${at} ${file.name}`}>
            {file.name} <span class={done[at]?.failed ? "wrong" : "muted"}>{done[at]?.said ?? (busy && at === done.length ? "reading…" : size(file.size))}</span>
          </li>
        ))}
      </ul>
      <footer class="row end">
        <Button onClick={() => onClose(done.length > 0)}>{finished ? "Close" : "Cancel"}</Button>
        {!finished && <Button look="strong" disabled={busy} onClick={() => void take()}>{busy ? "Reading…" : "Take them in"}</Button>}
      </footer>
    </Dialog>
  );
}

const size = (bytes: number): string => (bytes < 1000 ? `${bytes} bytes` : bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`);

async function taken(file: File): Promise<Outcome> {
  if (file.size > MOST_BYTES) return { file, said: `it has ${size(file.size)}, and may have 64 MB`, failed: true };
  try {
    const report = await upload(file.name, file);
    const error = report.errors[0]?.error;
    const said = error ?? (report.added ? `${many(report.added, "memory", "memories")} added` : "nothing new in it");
    return { file, said, failed: error !== undefined };
  } catch (error) {
    return { file, said: asProblem(error).message, failed: true };
  }
}
