/** A text that is sent: Enter sends, Shift+Enter is a new line. */
import type { ComponentChildren, RefObject } from "preact";
import { isComposing } from "./composing.ts";
import { Button } from "./controls.tsx";

interface SendBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly rows: number;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
  readonly id?: string;
  readonly field?: RefObject<HTMLTextAreaElement>;
  readonly isBusy?: boolean;
  /** Of the names by which its parts keep the focus, where there is more than one box. */
  readonly prefix?: string;
  /** Before the button that sends. */
  readonly children?: ComponentChildren;
}

export function SendBox({
  label,
  placeholder,
  text,
  rows,
  onText,
  onSend,
  id,
  field,
  isBusy,
  prefix = "",
  children,
}: SendBoxProps) {
  const canSend = text.trim() !== "" && isBusy !== true;
  const send = (event: Event): void => {
    event.preventDefault();
    if (canSend) onSend();
  };
  return (
    <form class="send-box" onSubmit={send}>
      <textarea
        id={id}
        ref={field ?? null}
        class="text"
        data-focus={`${prefix}text`}
        aria-label={label}
        rows={rows}
        placeholder={placeholder}
        value={text}
        readOnly={isBusy}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // An Enter that ends a composition belongs to the input method.
          if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) send(event);
        }}
      />
      {children}
      <Button kind="primary" data-focus={`${prefix}send`} disabled={!canSend}>
        Send
      </Button>
    </form>
  );
}
