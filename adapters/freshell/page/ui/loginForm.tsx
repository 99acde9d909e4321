/** Asks for the server's token once; afterwards the device has its own. */
import { useState } from "preact/hooks";
import { Button } from "./buttons.tsx";

export function LoginForm({ onToken }: { readonly onToken: (token: string) => Promise<string | undefined> }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const send = async (): Promise<void> => {
    setBusy(true);
    const wrong = await onToken(token);
    setBusy(false);
    setProblem(wrong);
    if (wrong === undefined) setToken("");
  };
  return (
    <form
      class="login"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <h1>Freshell</h1>
      <label>
        The server's token (AUTH_TOKEN)
        <input
          type="password"
          autocomplete="off"
          value={token}
          required
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      <Button kind="primary" disabled={isBusy}>
        Log in
      </Button>
      {problem === undefined ? null : <p role="alert">{problem}</p>}
    </form>
  );
}
