/** Asks a person for the server's token. It is handed on once, and is in no URL and no storage. */
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./controls.tsx";

interface TokenFormProps {
  readonly title: string;
  readonly words?: string;
  readonly label: string;
  readonly button: string;
  /** Resolves with what is wrong; undefined when it was accepted. */
  readonly onToken: (token: string) => Promise<string | undefined>;
}

export function TokenForm({ title, words, label, button, onToken }: TokenFormProps) {
  const field = useRef<HTMLInputElement>(null);
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isSending, setSending] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const token = value.trim();
  const send = async (): Promise<void> => {
    if (token === "" || isSending) return;
    setSending(true);
    setProblem(undefined);
    const wrong = await onToken(token);
    setSending(false);
    setProblem(wrong);
    if (wrong === undefined) setValue("");
    else field.current?.select();
  };
  return (
    <form
      class="login"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <h2>{title}</h2>
      {words === undefined ? null : <p>{words}</p>}
      <label for="token">{label}</label>
      <input
        id="token"
        class="text"
        type="password"
        autocomplete="off"
        ref={field}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : "token-problem"}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      {problem === undefined ? null : (
        <p id="token-problem" class="bad" role="alert">
          {problem}
        </p>
      )}
      <Button kind="primary" disabled={token === "" || isSending}>
        {button}
      </Button>
    </form>
  );
}
