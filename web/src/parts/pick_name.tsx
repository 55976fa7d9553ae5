/** A field for the title or name of another memory, with suggestions. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { LIST, type Suggestion, SuggestionList, useSuggestions } from "./suggest";

/** The memory that was picked; without an id only its name was typed. */
export interface Picked {
  id: string;
  title: string;
}

interface Props {
  label: string;
  picked: Picked;
  pick: (one: Picked) => void;
  /** The id of the memory that cannot be picked. */
  not: string;
}

export function NamePicker({ label, picked, pick, not }: Props): JSX.Element {
  const [typed, setTyped] = useState(false);
  const suggesting = useSuggestions(picked.title, typed);
  // Tags and buckets are no memories.
  const found = suggesting.found.filter((one) => one.id !== null && one.id !== not);
  const take = (one: Suggestion): void => {
    pick({ id: one.id ?? "", title: one.text });
    setTyped(false);
    suggesting.close();
  };
  return (
    <div class="field linked">
      <label for="other-name">{label}</label>
      <input
        id="other-name"
        value={picked.title}
        autocomplete="off"
        role="combobox"
        aria-autocomplete="list"
        aria-controls={LIST}
        aria-expanded={found.length > 0}
        {...(suggesting.at >= 0 ? { "aria-activedescendant": `${LIST}-${suggesting.at}` } : {})}
        placeholder="a title or a name"
        onInput={(event) => {
          setTyped(true);
          pick({ id: "", title: event.currentTarget.value });
        }}
        onKeyDown={(event) => {
          const chosen = found[suggesting.at];
          const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (by && suggesting.move(by)) event.preventDefault();
          else if (event.key === "Enter" && chosen) {
            event.preventDefault();
            take(chosen);
          }
        }}
        onBlur={suggesting.close}
      />
      <SuggestionList found={found} at={suggesting.at} take={take} />
    </div>
  );
}
