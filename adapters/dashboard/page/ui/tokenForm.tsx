/** For a daemon with a token: it is exchanged for a cookie that no script can read, and is in no URL and no storage. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Page } from "../page.ts";

export function TokenForm({ page }: { readonly page: Page }) {
  const field = useRef<HTMLInputElement>(null);
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [sending, setSending] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const token = value.trim();
  const give = async (): Promise<void> => {
    if (token === "" || sending) return;
    setSending(true);
    setProblem(undefined);
    const wrong = await page.giveToken(token);
    setSending(false);
    setProblem(wrong);
    if (wrong !== undefined) field.current?.select();
  };
  return (
    <form
      class="empty token"
      onSubmit={(event) => {
        event.preventDefault();
        void give();
      }}
    >
      <h2>This dashboard needs a token</h2>
      <p>Enter the token that it was configured with.</p>
      <label for="token">Token</label>
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
        <p id="token-problem" class="delivery failed" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="button primary" disabled={token === "" || sending}>
        Open the dashboard
      </button>
    </form>
  );
}
