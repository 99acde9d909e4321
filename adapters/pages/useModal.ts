/** A dialog that is open while it is rendered. Afterwards the focus is where it was. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** For the `ref` of the dialog. */
export function useModal(): RefObject<HTMLDialogElement> {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return dialog;
}
