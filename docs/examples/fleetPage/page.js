// Shows a pane from NATS, without a daemon: its newest screen, then what it prints.
import { wsconnect } from "@nats-io/nats-core";
import { FleetClient } from "tmuxwire/nats";

const form = document.querySelector("form");
const said = document.querySelector("output");
let stop = new AbortController();

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void open();
});

async function open() {
  stop.abort();
  stop = new AbortController();
  const { url, host, server, pane } = Object.fromEntries(new FormData(form));
  const terminal = new globalThis.Terminal({ scrollback: 5_000, disableStdin: true });
  document.querySelector("#terminal").replaceChildren();
  terminal.open(document.querySelector("#terminal"));
  try {
    const connection = await wsconnect({ servers: url, maxReconnectAttempts: -1 });
    stop.signal.addEventListener("abort", () => void connection.close());
    const client = new FleetClient(connection);
    for await (const one of client.follow({ host, server, pane, from: "snapshot", signal: stop.signal })) {
      if (one.kind === "open" || one.kind === "resize") terminal.resize(one.cols, one.rows);
      if (one.kind === "output" || one.kind === "snapshot") terminal.write(one.bytes);
      if (one.kind === "gap") said.textContent = `output is missing (${one.reason})`;
      if (one.kind === "closed") said.textContent = one.message;
    }
  } catch (error) {
    if (!stop.signal.aborted) said.textContent = error.message;
  }
}
