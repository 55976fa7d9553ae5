/** A modal dialog, made with the dialog element: it traps the focus, closes with Escape and restores
 * the focus. The focus goes to its first field, or to the button that changes nothing. */

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import { Button } from "./basics";

interface Props {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** True if Escape does not close it. */
  firm?: boolean;
}

export function Dialog({ title, onClose, children, firm }: Props): JSX.Element {
  const place = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = place.current;
    const before = document.activeElement;
    dialog?.showModal();
    // The first field, else the button that changes nothing: never the one that closes.
    const first = ["[data-first]", ".dialog-body :is(input, textarea, select)", ".dialog-body footer button", "h2"];
    first.map((one) => dialog?.querySelector<HTMLElement>(one)).find(Boolean)?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={place}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        if (!firm) onClose();
      }}
      onClick={(event) => {
        if (event.target === place.current && !firm) onClose();
      }}
    >
      <div class="dialog">
        <header>
          <h2 id="dialog-title" tabIndex={-1}>{title}</h2>
          {!firm && <Button icon="close" label="Close" look="quiet" onClick={onClose} />}
        </header>
        <div class="dialog-body">{children}</div>
      </div>
    </dialog>
  );
}
