/** The route: `#/VIEW/ID?name=value`. Everything that can be linked to is in the URL. */

import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  id: string;
  query: URLSearchParams;
}

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/");
  return { view: view || "search", id: unescaped(rest.join("/")), query: new URLSearchParams(query) };
}

/** A typed URL may end in the middle of an escape sequence. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the URL of a view; empty parameters are left out. */
export function link(view: string, id = "", query: Record<string, string> = {}): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  const behind = given.size ? `?${given.toString()}` : "";
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${behind}`;
}

export function go(address: string): void {
  location.hash = address;
}

/** Changes the URL without a new entry in the browser's history. */
export function replaceWith(address: string): void {
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(readRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
