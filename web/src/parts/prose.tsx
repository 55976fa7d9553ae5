/** The text of a memory. Wikilinks become links; everything else is plain text. */

import type { JSX } from "preact";

import { link } from "../route";
import { readable } from "../words";

const WIKILINK = /\[\[([^\]|]+)(?:\|([^\]]+))?\]\]/g;

export function Prose({ text }: { text: string }): JSX.Element {
  const parts: (string | JSX.Element)[] = [];
  let end = 0;
  for (const found of text.matchAll(WIKILINK)) {
    const [whole, target = "", shown] = found;
    parts.push(readable(text.slice(end, found.index)));
    parts.push(
      <a key={found.index} href={link("node", target.split("#")[0]?.trim() ?? target)}>
        {shown ?? target}
      </a>,
    );
    end = found.index + whole.length;
  }
  parts.push(readable(text.slice(end)));
  return <div class="node-text">{parts}</div>;
}
