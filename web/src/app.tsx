/** The frame around the views: navigation, keys, theme, and the token dialog. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { keepToken, whenTokenIsNeeded } from "./api";
import { undoLast } from "./forgetting";
import { useKeys, useTheme } from "./hooks";
import { EditDialog } from "./parts/actions";
import { Button, Empty, Icon, type IconName } from "./parts/basics";
import { Dialog } from "./parts/dialog";
import { FilesDialog, useDrop } from "./parts/drop";
import { Toasts } from "./parts/toasts";
import { go, link, type Route, useRoute } from "./route";
import { type Choice, chooseTheme, chosenTheme } from "./theme";
import { BrowseView } from "./views/browse";
import { DreamsView } from "./views/dreams";
import { NodeView } from "./views/node";
import { QuarantineView } from "./views/quarantine";
import { SearchView } from "./views/search";
import { TimelineView } from "./views/timeline";
import { YouView } from "./views/you";

const PLACES: [view: string, title: string, icon: IconName, key: string][] = [
  ["search", "Search", "search", "s"],
  ["timeline", "Timeline", "timeline", "t"],
  ["browse", "Browse", "browse", "b"],
  ["you", "You", "you", "y"],
  ["dreams", "Dreams", "dreams", "d"],
  ["quarantine", "Quarantine", "quarantine", "q"],
];

const KEYS: [keys: string, does: string][] = [
  ["/", "search"],
  ["j  k", "next and previous memory"],
  ["Enter", "open it"],
  ["w", "why it was found"],
  ["e", "edit the open memory"],
  ["Delete", "forget the open memory"],
  ["u", "undo what is being forgotten"],
  ["n", "write a memory"],
  ...PLACES.map(([, title, , key]): [string, string] => [`g ${key}`, title.toLowerCase()]),
  ["t", "light, dark or as the system is"],
  ["Esc", "close what is open"],
  ["?", "these keys"],
];

export function App(): JSX.Element {
  const route = useRoute();
  const [window_, setWindow] = useState<"keys" | "write" | null>(null);
  const [files, setFiles] = useState<File[]>([]);
  const over = useDrop(setFiles);
  const [token, setToken] = useState<"missing" | "wrong" | null>(null);
  const [turn, setTurn] = useState(0);
  const [theme, setTheme] = useState(chosenTheme);
  const main = useRef<HTMLElement>(null);
  useTheme();
  useEffect(() => whenTokenIsNeeded((wrong) => setToken(wrong ? "wrong" : "missing")), []);
  const shown = useRef("");
  useEffect(() => {
    const here = `${route.view}/${route.id}`;
    // A new view begins at its top, and gets the focus, unless the user is typing a cue or the page has just loaded.
    if (shown.current && shown.current !== here && document.activeElement?.id !== "cue") main.current?.focus({ preventScroll: true });
    shown.current = here;
    scrollTo(0, 0);
  }, [route.view, route.id]);
  const turnTheme = (): void => {
    const next: Choice = theme === "auto" ? "light" : theme === "light" ? "dark" : "auto";
    chooseTheme(next);
    setTheme(next);
  };
  useShortcuts({ "?": () => setWindow("keys"), n: () => setWindow("write"), t: turnTheme, u: () => void undoLast() });
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <Side view={route.view} theme={theme} turnTheme={turnTheme} open={setWindow} />
      <main id="main" ref={main} tabIndex={-1} key={turn}>
        <View route={route} />
      </main>
      {window_ === "keys" && <KeysDialog onClose={() => setWindow(null)} />}
      {window_ === "write" && <EditDialog onClose={() => setWindow(null)} onDone={(node) => { setWindow(null); go(link("node", node.id)); }} onFiles={(chosen) => { setWindow(null); setFiles(chosen); }} />}
      {files.length > 0 && <FilesDialog files={files} onClose={(changed) => { setFiles([]); if (changed) setTurn(turn + 1); }} />}
      {over && <div class="drop-here" aria-hidden="true">Drop the files to take them in</div>}
      <Toasts />
      {token && (
        <TokenDialog
          wrong={token === "wrong"}
          onDone={(text, forLong) => {
            keepToken(text, forLong);
            setToken(null);
            setTurn(turn + 1);
          }}
        />
      )}
    </div>
  );
}

function View({ route }: { route: Route }): JSX.Element {
  switch (route.view) {
    case "search":
      return <SearchView route={route} />;
    case "node":
      return <NodeView id={route.id} key={route.id} />;
    case "timeline":
      return <TimelineView route={route} />;
    case "browse":
      return <BrowseView />;
    case "you":
      return <YouView />;
    case "dreams":
      return <DreamsView />;
    case "quarantine":
      return <QuarantineView />;
    default:
      return (
        <Empty title="There is no such place">
          <p><a href={link("search")}>Search</a> instead.</p>
        </Empty>
      );
  }
}

interface SideProps {
  view: string;
  theme: Choice;
  turnTheme: () => void;
  open: (window: "keys" | "write") => void;
}

const THEMES: Record<Choice, [IconName, string]> = {
  auto: ["auto", "Theme: system"],
  light: ["sun", "Theme: light"],
  dark: ["moon", "Theme: dark"],
};

function Side({ view, theme, turnTheme, open }: SideProps): JSX.Element {
  return (
    <header class="side">
      <a class="brand" href={link("search")}>
        <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
          <path d="M7 24C12 24 11 11 17 11s4 9 9 9" />
          <circle class="cue" cx="7" cy="24" r="4.2" />
          <circle cx="17" cy="10.6" r="2.9" />
          <circle cx="26" cy="20" r="2.2" />
        </svg>
        cuetrail
      </a>
      <nav aria-label="Places">
        {PLACES.map(([place, title, icon]) => (
          <a key={place} href={link(place)} aria-current={view === place ? "page" : undefined}>
            <Icon name={icon} />
            <span>{title}</span>
          </a>
        ))}
      </nav>
      <div class="side-tools">
        <Tool icon="add" name="Write a memory" onClick={() => open("write")} />
        <Tool icon={THEMES[theme][0]} name={THEMES[theme][1]} onClick={turnTheme} />
        <Tool icon="keys" name="Keys" onClick={() => open("keys")} />
      </div>
    </header>
  );
}

/** A button with its name; small screens show the icon alone. */
function Tool({ icon, name, onClick }: { icon: IconName; name: string; onClick: () => void }): JSX.Element {
  return (
    <Button icon={icon} label={name} look="quiet" onClick={onClick}>
      <span class="tool-name">{name}</span>
    </Button>
  );
}

/** Keys of every view: search, move through memories, and `g` with a letter to open a view. */
function useShortcuts(own: Record<string, () => void>): void {
  const going = useRef(false);
  useKeys((key) => {
    const place = going.current ? PLACES.find(([, , , letter]) => letter === key) : undefined;
    going.current = key === "g" && !going.current;
    if (place) go(link(place[0]));
    else if (key === "/") focusCue();
    else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
    else if (key === "w") document.activeElement?.closest(".hit")?.querySelector<HTMLElement>("[data-why]")?.click();
    else if (own[key]) own[key]();
    else return going.current;
    return true;
  });
}

function focusCue(): void {
  const cue = document.getElementById("cue");
  if (cue instanceof HTMLInputElement) cue.select();
  else {
    go(link("search"));
    setTimeout(() => document.getElementById("cue")?.focus());
  }
}

function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("[data-hit]")];
  const focus = document.activeElement;
  const here = focus?.closest<HTMLElement>("[data-hit]") ?? focus?.closest(".card")?.querySelector<HTMLElement>("[data-hit]");
  const at = here ? links.indexOf(here) + by : by > 0 ? 0 : links.length - 1;
  links[Math.min(links.length - 1, Math.max(0, at))]?.focus();
}

function KeysDialog({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>{keys.split(/ +/).map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function TokenDialog({ wrong, onDone }: { wrong: boolean; onDone: (token: string, forLong: boolean) => void }): JSX.Element {
  const [text, setText] = useState("");
  const [forLong, setForLong] = useState(false);
  return (
    <Dialog title="This memory needs a token" onClose={() => undefined} firm>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onDone(text.trim(), forLong);
        }}
      >
        <p>{wrong ? "The token that was given is not known here, or not any more." : "Whoever runs the server makes one:"} <code>cuetrail token add NAME</code></p>
        <label class="field">
          Token
          <input type="password" required autocomplete="off" spellcheck={false} placeholder="ct_…" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <label class="check">
          <input type="checkbox" checked={forLong} onChange={(event) => setForLong(event.currentTarget.checked)} />
          Keep it in this browser, not only in this tab
        </label>
        <footer class="row end">
          <Button type="submit" look="strong">Use it</Button>
        </footer>
      </form>
    </Dialog>
  );
}
