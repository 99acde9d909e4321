/** For a daemon that wants a token: it trades the one in the address for a cookie that no script can read. */
import { useState } from "preact/hooks";

export function TokenForm() {
  const [value, setValue] = useState("");
  const token = value.trim();
  return (
    <form
      class="empty token"
      onSubmit={(event) => {
        event.preventDefault();
        if (token !== "") location.assign(`/?token=${encodeURIComponent(token)}`);
      }}
    >
      <h2>This daemon wants a token</h2>
      <p>It is the one that the dashboard was configured with.</p>
      <label for="token">Token</label>
      <input
        id="token"
        class="text"
        type="password"
        autocomplete="off"
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <button type="submit" class="button primary" disabled={token === ""}>
        Open the dashboard
      </button>
    </form>
  );
}
