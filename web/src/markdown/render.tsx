/** Draws Markdown as elements. It is inert: no HTML, script or image of a text is ever loaded or run. */

import type { ComponentChildren, JSX } from "preact";

import { link } from "../route";
import { blocksOf, inside, textOf, type Token, type Tokens, unescaped, type Wikilink } from "./parse";

/** Draws the letters of a text, such as with some words marked. */
export type Letters = (text: string) => ComponentChildren;

const asTheyAre: Letters = (text) => text;

export function Markdown({ text, letters = asTheyAre }: { text: string; letters?: Letters }): JSX.Element {
  return <Blocks blocks={blocksOf(text)} letters={letters} />;
}

export function Blocks({ blocks, letters = asTheyAre }: { blocks: Token[]; letters?: Letters }): JSX.Element {
  return <div class="prose">{drawn(blocks, letters)}</div>;
}

const drawn = (tokens: Token[], letters: Letters): JSX.Element[] => tokens.map((token, at) => <One key={at} token={token} letters={letters} />);

function One({ token, letters }: { token: Token; letters: Letters }): JSX.Element {
  const within = (): JSX.Element[] => drawn(inside(token), letters);
  switch (token.type) {
    case "paragraph":
      return <p>{within()}</p>;
    case "heading":
      // Headings of the page are above those of a text.
      return <p class={`said-heading level-${(token as Tokens.Heading).depth}`} role="heading" aria-level={Math.min(6, 3 + (token as Tokens.Heading).depth)}>{within()}</p>;
    case "blockquote":
      return <Quote quote={token as Tokens.Blockquote} letters={letters} />;
    case "list":
      return <List list={token as Tokens.List} letters={letters} />;
    case "table":
      return <Table table={token as Tokens.Table} letters={letters} />;
    case "code":
      return <pre tabIndex={0} aria-label="Code"><code>{letters((token as Tokens.Code).text)}</code></pre>;
    case "hr":
      return <hr />;
    case "br":
      return <br />;
    case "strong":
      return <strong>{within()}</strong>;
    case "em":
      return <em>{within()}</em>;
    case "del":
      return <del>{within()}</del>;
    case "codespan":
      return <code>{letters((token as Tokens.Codespan).text)}</code>;
    case "link":
      return <Link href={(token as Tokens.Link).href}>{within()}</Link>;
    case "image":
      return <Picture image={token as Tokens.Image} />;
    case "wikilink":
      return <Wiki token={token as Wikilink} letters={letters} />;
    case "html":
      return <>{shownHtml(token.raw) && letters(token.raw)}</>;
    default:
      return <>{inside(token).length ? within() : letters(unescaped(String("text" in token ? token.text : token.raw)))}</>;
  }
}

/** A quotation. One that begins with `[!warning] Title` has a title. */
function Quote({ quote, letters }: { quote: Tokens.Blockquote; letters: Letters }): JSX.Element {
  const [, kind, title] = /^\[!([\w-]+)\][+-]?[ \t]*([^\n]*)/.exec(quote.text) ?? [];
  if (kind === undefined) return <blockquote>{drawn(quote.tokens, letters)}</blockquote>;
  const rest = quote.text.slice(quote.text.indexOf("\n") + 1 || quote.text.length);
  const said = title || kind.charAt(0).toUpperCase() + kind.slice(1).toLowerCase();
  return (
    <blockquote class="callout">
      <p class="said-heading">{letters(said)}</p>
      {drawn(blocksOf(rest), letters)}
    </blockquote>
  );
}

/** Comments and lone line breaks of HTML say nothing; every other tag is shown as its letters. */
const shownHtml = (raw: string): boolean => !/^\s*(?:<!--[\s\S]*?-->|<\/?br\s*\/?>)\s*$/.test(raw);

function List({ list, letters }: { list: Tokens.List; letters: Letters }): JSX.Element {
  const items = list.items.map((item, at) => (
    <li key={at} class={item.task ? "task" : undefined}>
      {item.task && <span role="img" aria-label={item.checked ? "done" : "to do"}>{item.checked ? "☑ " : "☐ "}</span>}
      {drawn(item.tokens.filter((one) => one.type !== "checkbox"), letters)}
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ table, letters }: { table: Tokens.Table; letters: Letters }): JSX.Element {
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead><tr>{table.header.map((cell, at) => <th key={at} scope="col">{drawn(cell.tokens, letters)}</th>)}</tr></thead>
        <tbody>
          {table.rows.map((row, number) => (
            <tr key={number}>{row.map((cell, at) => <td key={at}>{drawn(cell.tokens, letters)}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const PICTURE = /\.(?:png|jpe?g|gif|webp|svg|avif|bmp|heic|mp4|mov|webm|mp3|wav|m4a|pdf)$/i;

/** A link: outward, to another note, or only its letters if it leads to neither. */
function Link({ href, children }: { href: string; children: ComponentChildren }): JSX.Element {
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) {
    return <a href={href} target="_blank" rel="noreferrer noopener" title={href}>{children}</a>;
  }
  const name = noteAt(href);
  return name ? <a href={link("node", name)}>{children}</a> : <span class="dead" title={href}>{children}</span>;
}

/** The name of the note that a relative link leads to, "" if it leads to none. */
function noteAt(href: string): string {
  if (/^[a-z][a-z\d+.-]*:|^#|^\/\//i.test(href)) return "";
  const file = href.split(/[?#]/)[0]?.split("/").pop() ?? "";
  if (!/\.(?:md|markdown|txt|org)$/i.test(file)) return "";
  try {
    return decodeURIComponent(file).replace(/\.\w+$/, "");
  } catch {
    return "";
  }
}

/** A picture is named, not loaded. */
function Picture({ image }: { image: Tokens.Image }): JSX.Element {
  const file = image.href.split(/[?#]/)[0]?.split("/").pop() ?? "";
  const name = unescaped(image.text).trim() || file || "without a name";
  const shown = <>picture: {name}</>;
  return /^https?:\/\//i.test(image.href)
    ? <a class="embed" href={image.href} target="_blank" rel="noreferrer noopener" title={image.href}>{shown}</a>
    : <span class="embed" title={image.href}>{shown}</span>;
}

function Wiki({ token, letters }: { token: Wikilink; letters: Letters }): JSX.Element {
  const file = token.target.split("#")[0]?.trim() || token.target;
  if (token.embed && PICTURE.test(file)) return <span class="embed" title={token.target}>file: {token.shown}</span>;
  return <a class={token.embed ? "embed" : undefined} href={link("node", file)}>{letters(token.shown)}</a>;
}

export { textOf };
