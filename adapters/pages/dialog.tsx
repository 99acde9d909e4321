/** A dialog that is open while it is rendered, and the keys as a dialog lists them. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Tool } from "./controls.tsx";

interface DialogProps {
  readonly title: string;
  /** For its width. */
  readonly kind?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Afterwards the focus is where it was. */
export function Dialog({ title, kind = "", onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // In the click that asked for it: a key that comes right after finds it open.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={`dialog ${kind}`} aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <Tool label="Close" sign="✕" onPress={onClose} />
      </header>
      {children}
    </dialog>
  );
}

interface KeyListProps {
  /** Keys that do the same, and what they do. */
  readonly rows: readonly (readonly [keys: readonly string[], words: string])[];
}

export const KeyList = ({ rows }: KeyListProps) => (
  <dl class="key-list">
    {rows.map(([keys, words]) => (
      <div key={words}>
        <dt>
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </dt>
        <dd>{words}</dd>
      </div>
    ))}
  </dl>
);
