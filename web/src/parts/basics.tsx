/** The smallest parts of the page. */

import type { ComponentChildren, JSX } from "preact";

import type { Problem } from "../api";
import { link } from "../route";
import { kindOf } from "../words";
import { matcher } from "./matches";

const PATHS = {
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14Zm5 12 4.5 4.5",
  timeline: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16Zm0 4v4.3l3 1.9",
  browse: "M4 6.5h6l2 2.5h8v9.5H4Z",
  graph: "M6 18a2 2 0 1 0 0-.1M18 17a2 2 0 1 0 0-.1M12 6a2 2 0 1 0 0-.1M7.2 16.4l3.8-8.7M13 7.7l4 7.6M8 18l8-.8",
  dreams: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z",
  quarantine: "M12 3.5 19 6v5.5c0 4.3-2.9 7.4-7 9-4.1-1.6-7-4.7-7-9V6Zm-3 8h6",
  add: "M12 5v14M5 12h14",
  edit: "M4.5 19.5l1-4L16 5l3 3L8.5 18.5Zm9.5-12.5 3 3",
  forget: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.2 10.5v5.5M13.8 10.5v5.5",
  why: "M6 18.5a1.6 1.6 0 1 0 0-.1M18 5.6a1.6 1.6 0 1 0 0-.1M7.5 17.5C13 16 11 8 16.5 6.2",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm0-5v2m0 14v2M3 12h2m14 0h2M5.6 5.6 7 7m10 10 1.4 1.4M5.6 18.4 7 17M17 7l1.4-1.4",
  moon: "M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z",
  auto: "M12 4a8 8 0 1 0 0 16Zm0 0a8 8 0 0 1 0 16",
  close: "M6 6l12 12M18 6 6 18",
  keys: "M4 7h16v10H4Zm3.5 3.2h.1m3 0h.1m3 0h.1m3 0h.1M8 13.8h8",
  back: "M10 5.5 4 12l6 6.5M4.5 12H20",
  down: "M6 9l6 6 6-6",
  filter: "M4 6h16M7 12h10M10 18h4",
  copy: "M9 9h10v11H9ZM5 15V4h10",
  plus: "M12 6v12M6 12h12",
  minus: "M6 12h12",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  pause: "M9 6v12M15 6v12",
  play: "M8 5.5v13l10-6.5Z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  merge: "M6 5c0 5 6 4 6 9v5M18 5c0 5-6 4-6 9M8.5 16l3.5 3.5 3.5-3.5",
  star: "M12 4l2.4 5.2 5.6.6-4.2 3.8 1.2 5.6-5-2.9-5 2.9 1.2-5.6L4 9.8l5.6-.6Z",
  link: "M10 14a4 4 0 0 0 6 .4l2.6-2.6a4 4 0 0 0-5.7-5.7L11.6 7.4M14 10a4 4 0 0 0-6-.4l-2.6 2.6a4 4 0 0 0 5.7 5.7l1.3-1.3",
  open: "M14 5h5v5M19 5l-8 8M17 14v5H5V7h5",
  you: "M12 4.5a3.6 3.6 0 1 0 0 7.2 3.6 3.6 0 0 0 0-7.2ZM5 20c.6-4 3.4-6 7-6s6.4 2 7 6",
  tag: "M4 4.5h7.5l8 8-7 7-8.5-8Zm4 4h.1",
  file: "M6.5 3.5h7l4 4v13h-11ZM13 3.5V8h4.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

interface ButtonProps {
  children?: ComponentChildren;
  icon?: IconName;
  onClick?: () => void;
  label?: string;
  look?: "plain" | "strong" | "danger" | "quiet";
  type?: "button" | "submit";
  disabled?: boolean;
  pressed?: boolean;
  expanded?: boolean;
}

/** A button. Without text it needs a `label`, which is also shown on hover. */
export function Button(props: ButtonProps): JSX.Element {
  const { children, icon, onClick, label, look = "plain", type = "button", disabled, pressed, expanded } = props;
  return (
    <button
      type={type}
      class={`button ${look}${children ? "" : " bare"}`}
      onClick={onClick}
      aria-label={label}
      title={label}
      disabled={disabled}
      aria-pressed={pressed}
      aria-expanded={expanded}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export function Tag({ name, origin }: { name: string; origin?: string }): JSX.Element {
  const made = origin && origin !== "user" ? ` (${origin})` : "";
  return (
    <a class={`tag ${origin ?? "user"}`} href={link("timeline", "", { tag: name })} title={`#${name}${made}`}>
      {name}
    </a>
  );
}

export function Bucket({ name }: { name: string }): JSX.Element {
  return (
    <a class="bucket" href={link("timeline", "", { bucket: name })}>
      {name}
    </a>
  );
}

export function Kind({ kind }: { kind: string }): JSX.Element {
  return <span class="kind">{kindOf(kind)}</span>;
}

/** Grey lines while content loads. */
export function Loading({ what, rows = 3 }: { what: string; rows?: number }): JSX.Element {
  return (
    <div class="loading" role="status">
      <span class="unseen">Loading {what}…</span>
      {Array.from({ length: rows }, (_, row) => (
        <div class="ghost" key={row}>
          <i />
          <i />
        </div>
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <svg class="empty-mark" viewBox="0 0 64 32" aria-hidden="true" focusable="false">
        <circle cx="8" cy="22" r="5" />
        <path d="M16 22C28 22 26 9 38 9s8 9 15 9" />
      </svg>
      <h2>{title}</h2>
      {children && <div class="empty-words">{children}</div>}
    </div>
  );
}

export function Failure({ problem, again }: { problem: Problem; again?: () => void }): JSX.Element {
  const title = problem.status === 401 ? "A token is needed" : problem.status === 0 ? "No answer" : "That did not work";
  return (
    <div class="failure" role="alert">
      <strong>{title}</strong>
      <p><Told text={problem.message} /></p>
      {again && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

/** A message of the server; text between backticks is shown as code. */
export function Told({ text }: { text: string }): JSX.Element {
  return <>{text.split(/`([^`]+)`/).map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>;
}

/** A share from 0 to 1 as a bar, with the number beside it. */
export function Meter({ share, text, of }: { share: number; text: string; of: string }): JSX.Element {
  return (
    <span class="meter" title={of}>
      <span class="meter-bar" aria-hidden="true">
        <i style={{ width: `${Math.round(100 * Math.min(1, Math.max(0, share)))}%` }} />
      </span>
      <span class="meter-text">
        <span class="unseen">{of} </span>
        {text}
      </span>
    </span>
  );
}

/** A text with some words marked. It is never parsed as markup. */
export function Marked({ text, words }: { text: string; words: string[] }): JSX.Element {
  const wanted = matcher(words);
  if (!wanted) return <>{text}</>;
  return <>{text.split(wanted).map((part, at) => (at % 2 ? <mark key={at}>{part}</mark> : part))}</>;
}
