/** Searches that a person keeps, in this browser: the address of each, by its question. */

import { useEffect, useState } from "preact/hooks";

const KEPT = "cuetrail.searches";
const CHANGED = "cuetrail-searches";
const MOST = 50;

export interface Saved {
  title: string;
  address: string;
}

export function savedSearches(): Saved[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isSaved) : [];
  } catch {
    return [];
  }
}

/** A link of the page alone: what is stored could have been written by others. */
function isSaved(one: unknown): one is Saved {
  const { title, address } = (one ?? {}) as Partial<Saved>;
  return typeof title === "string" && typeof address === "string" && address.startsWith("#/search?");
}

/** Keeps a search, or ends that. The newest come first. */
export function keepSearch(one: Saved, keep: boolean): void {
  const others = savedSearches().filter((each) => each.address !== one.address);
  localStorage.setItem(KEPT, JSON.stringify(keep ? [one, ...others].slice(0, MOST) : others));
  dispatchEvent(new Event(CHANGED));
}

export function useSavedSearches(): Saved[] {
  const [saved, setSaved] = useState(savedSearches);
  useEffect(() => {
    const follow = (): void => setSaved(savedSearches());
    addEventListener(CHANGED, follow);
    return () => removeEventListener(CHANGED, follow);
  }, []);
  return saved;
}
