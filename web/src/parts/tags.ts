/** Tags that a person does not want to see on this page. They stay in the memory. */

import { useEffect, useState } from "preact/hooks";

const KEPT = "cuetrail.hidden-tags";
const CHANGED = "cuetrail-hidden-tags";

export function hiddenTags(): Set<string> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return new Set(Array.isArray(kept) ? kept.filter((one): one is string => typeof one === "string") : []);
  } catch {
    return new Set();
  }
}

export function hideTag(name: string, hide: boolean): void {
  const tags = hiddenTags();
  if (hide) tags.add(name);
  else tags.delete(name);
  localStorage.setItem(KEPT, JSON.stringify([...tags]));
  dispatchEvent(new Event(CHANGED));
}

export function useHiddenTags(): Set<string> {
  const [tags, setTags] = useState(hiddenTags);
  useEffect(() => {
    const follow = (): void => setTags(hiddenTags());
    addEventListener(CHANGED, follow);
    return () => removeEventListener(CHANGED, follow);
  }, []);
  return tags;
}
