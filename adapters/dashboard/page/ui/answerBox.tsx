/** The text field for an answer: Enter sends, Shift+Enter is a new line. */

interface AnswerBoxProps {
  readonly id: string;
  readonly label: string;
  readonly draft: string;
  readonly busy: boolean;
  readonly onDraft: (text: string) => void;
  readonly onSend: (text: string) => void;
}

const MAX_ROWS = 10;

export function AnswerBox({ id, label, draft, busy, onDraft, onSend }: AnswerBoxProps) {
  const blank = draft.trim() === "";
  const send = (): void => {
    if (!blank && !busy) onSend(draft);
  };
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="heard" for={id}>
        {label}
      </label>
      <textarea
        id={id}
        class="text"
        data-focus="text"
        rows={Math.min(MAX_ROWS, draft.split("\n").length)}
        placeholder={label}
        value={draft}
        readOnly={busy}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={(event) => {
          // An Enter that ends a composition belongs to the input method.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <button type="submit" class="button primary" data-focus="send" disabled={busy || blank}>
        Send
      </button>
    </form>
  );
}
