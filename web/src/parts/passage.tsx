/** The text of a memory as a card shows it: the part with the words, drawn as Markdown, with the words marked. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";

import { excerptOf } from "../markdown/parse";
import { Blocks, type Letters, Markdown } from "../markdown/render";
import { many } from "../words";
import { Button, Marked } from "./basics";
import { matcher } from "./matches";

const SHOWN = 560;

export function Passage({ text, words, most = SHOWN }: { text: string; words: string[]; most?: number }): JSX.Element {
  const [whole, setWhole] = useState(false);
  const letters: Letters = (part) => <Marked text={part} words={words} />;
  const excerpt = useMemo(() => excerptOf(text, most, (part) => words.length > 0 && (matcher(words)?.test(part) ?? false)), [text, most, words.join(" ")]);
  const cut = excerpt.before || excerpt.after;
  const rest = text.length - excerpt.blocks.reduce((sum, one) => sum + one.raw.length, 0);
  return (
    <div class="passage">
      {whole ? (
        <Markdown text={text} letters={letters} />
      ) : (
        <>
          {excerpt.before && <p class="left-out" aria-hidden="true">…</p>}
          <Blocks blocks={excerpt.blocks} letters={letters} />
        </>
      )}
      {cut && (
        <Button look="quiet" onClick={() => setWhole(!whole)} expanded={whole}>
          {whole ? "Show less" : `Show all of it (${many(Math.max(1, Math.round(rest / 6)), "word")} more)`}
        </Button>
      )}
    </div>
  );
}
