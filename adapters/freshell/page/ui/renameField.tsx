/** A title being edited: Enter saves it, Escape cancels. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { isComposing } from "../../../pages/composing.ts";

interface RenameFieldProps {
  readonly title: string;
  readonly label: string;
  readonly onDone: (title: string | undefined) => void;
}

const MAX_TITLE_CHARS = 256;

export function RenameField({ title, label, onDone }: RenameFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  // A layout effect: the next key must go to the field.
  useLayoutEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const end = (given: string | undefined): void => {
    if (isDone.current) return;
    isDone.current = true;
    onDone(given);
  };
  return (
    <input
      ref={field}
      class="rename"
      aria-label={label}
      defaultValue={title}
      maxLength={MAX_TITLE_CHARS}
      onBlur={(event) => end(event.currentTarget.value.trim())}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (isComposing(event)) return;
        if (event.key === "Enter") end(event.currentTarget.value.trim());
        else if (event.key === "Escape") end(undefined);
      }}
    />
  );
}
