/** Markdown as a tree of tokens, with wikilinks and embeds. Nothing here makes HTML. */

import { Marked, type Token, type Tokens } from "marked";

export type { Token, Tokens };

/** `[[target|shown]]`, and with `embed` `![[target]]`. */
export interface Wikilink extends Tokens.Generic {
  type: "wikilink";
  target: string;
  shown: string;
  embed: boolean;
}

const WIKILINK = /^(!?)\[\[([^\]|\n]+)(?:\|([^\]\n]+))?\]\]/;

/** The name of another vault, and a heading behind #, may stand around it. */
const isDendronName = (text: string): boolean => /^(?:dendron:\/\/[^/|]+\/)?[\w-]+(?:\.[\w-]+)+(?:#.*)?$/.test(text.trim());
const VAULT = /^\s*dendron:\/\/[^/|]+\//;

const lexers = [false, true].map((breaks) => new Marked({ gfm: true, breaks }));
for (const one of lexers) {
  one.use({
    extensions: [
      {
        name: "wikilink",
        level: "inline",
        start: (text) => text.search(/!?\[\[/),
        tokenizer: (text) => {
          const found = WIKILINK.exec(text);
          if (!found) return undefined;
          const [raw, sign, first = "", second] = found;
          // Dendron writes the text before the name of the note.
          const [target, shown] = second !== undefined && isDendronName(second) && !isDendronName(first) ? [second, first] : [first, second];
          const name = target.replace(VAULT, "").trim();
          return { type: "wikilink", raw, target: name, shown: (shown ?? name).trim(), embed: sign === "!" };
        },
      },
    ],
  });
}

/** True if the lines of a text were broken to a width, so that a line break in it is a space. */
const isWrapped = (text: string): boolean => /^(?![ \t]*(?:[|#>]|```))[^\n]{55,}\n(?=[\p{L}\p{N}`("“'‘*_[])/mu.test(text);

const kept = new Map<string, Token[]>();
const MOST_KEPT = 500;

/** Reading hostile signs takes time that grows with the square of their number, so no piece of a text is longer. */
const PIECE = 10_000;
const DEEPEST = 8;

/** A text as it is, for one that nobody can read as Markdown. */
const asOneParagraph = (text: string): Token[] => [{ type: "paragraph", raw: text, text, tokens: [{ type: "text", raw: text, text, escaped: false }] }];

/** Replaces what is nested deeper than anybody writes by its letters. */
function flattened(tokens: Token[], depth: number): void {
  for (const token of tokens) {
    const one = token as Tokens.Generic;
    if (one.type === "list") (token as Tokens.List).items.forEach((item) => flattened([item], depth + 1));
    else if (one.tokens && depth >= DEEPEST) one.tokens = [{ type: "text", raw: one.raw, text: String(one["text"] ?? one.raw), escaped: false }];
    else if (one.tokens) flattened(one.tokens, depth + 1);
  }
}

/** A text in pieces that end at blank lines outside of code. */
function piecesOf(text: string): string[] {
  if (text.length <= PIECE) return [text];
  const pieces: string[] = [];
  let [piece, inCode] = ["", false];
  for (const line of text.split("\n")) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) inCode = !inCode;
    if (!line.trim() && !inCode && piece.length > PIECE / 2) {
      pieces.push(piece);
      piece = "";
    } else piece += `${line}\n`;
  }
  return piece.trim() ? [...pieces, piece] : pieces;
}

function lexed(text: string): Token[] {
  if (text.length > PIECE) return asOneParagraph(text);
  try {
    const found = lexers[isWrapped(text) ? 0 : 1]!.lexer(text).filter((one) => one.type !== "space" && one.type !== "def");
    flattened(found, 0);
    return found;
  } catch {
    // Thousands of nested signs are more than the stack holds.
    return asOneParagraph(text);
  }
}

/** The blocks of a text. */
export function blocksOf(text: string): Token[] {
  const known = kept.get(text);
  if (known) return known;
  const found = piecesOf(text).flatMap(lexed);
  if (kept.size > MOST_KEPT) kept.clear();
  kept.set(text, found);
  return found;
}

/** The tokens inside a token. */
export function inside(token: Token): Token[] {
  const one = token as Tokens.Generic;
  if (one.type === "table") {
    const table = token as Tokens.Table;
    return [...table.header, ...table.rows.flat()].flatMap((cell) => cell.tokens);
  }
  if (one.type === "list") return (token as Tokens.List).items.flatMap((item) => item.tokens);
  return one.tokens ?? [];
}

/** The text of tokens, without any signs of Markdown. */
export function textOf(tokens: Token[]): string {
  return tokens.map(wordsOf).join("");
}

const BLOCKS = new Set(["paragraph", "heading", "blockquote", "list", "list_item", "table", "code"]);

function wordsOf(token: Token): string {
  if (token.type === "wikilink") return (token as Wikilink).shown;
  if (token.type === "br") return " ";
  if (token.type === "image") return "";
  const deeper = inside(token);
  const own = deeper.length ? textOf(deeper) : "text" in token ? unescaped(String(token.text)) : "";
  return BLOCKS.has(token.type) ? `${own} ` : own;
}

/** A text on one line, without signs of Markdown. */
export const plainText = (text: string): string => textOf(blocksOf(text)).replace(/\s+/g, " ").trim();

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", hellip: "…", ndash: "–", mdash: "—", rarr: "→", larr: "←", copy: "©" };

/** A text with its character references replaced. */
export function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal !== undefined ? Number(decimal) : parseInt(hex ?? "", 16);
    return code > 31 && code < 0x110000 ? String.fromCodePoint(code) : whole;
  });
}

export interface Excerpt {
  blocks: Token[];
  /** True if something before or after is left out. */
  before: boolean;
  after: boolean;
}

/** The blocks around the first one that `fits`, of about so many characters. */
export function excerptOf(text: string, most: number, fits: (text: string) => boolean): Excerpt {
  const blocks = blocksOf(text);
  let first = 0;
  let size = 0;
  const best = blocks.findIndex((one) => fits(one.raw));
  for (let at = 0; at < best; at += 1) size += blocks[at]!.raw.length;
  if (best > 0 && size + blocks[best]!.raw.length > most) first = best;
  size = 0;
  let end = first;
  while (end < blocks.length && (end === first || size + blocks[end]!.raw.length <= most)) {
    size += blocks[end]!.raw.length;
    end += 1;
  }
  return { blocks: blocks.slice(first, end), before: first > 0, after: end < blocks.length };
}
