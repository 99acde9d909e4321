// The user enters the token into the form: never put it into a URL, because browsers store URLs.
import { createClient } from "./client.js";

const form = document.querySelector("form");
const said = document.querySelector("output");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { url, pane, token } = Object.fromEntries(new FormData(form));
  form.hidden = true;
  void show(createClient({ url, token }).openSocket(), pane);
});

async function show(socket, pane) {
  const terminal = new globalThis.Terminal({ cols: 80, rows: 24 });
  terminal.open(document.getElementById("terminal"));
  terminal.onData((text) => {
    socket.input("main", pane, [{ kind: "text", text }]).catch(tell);
  });
  try {
    // The screen first, then every byte once and in order; after a gap, the screen again.
    for await (const event of socket.follow("main", pane, { from: "snapshot" })) {
      if (event.kind === "resize" || event.kind === "open" || event.kind === "snapshot")
        terminal.resize(event.cols, event.rows);
      if (event.kind === "output" || event.kind === "snapshot") terminal.write(event.bytes);
      if (event.kind === "closed") tell(event);
    }
  } catch (error) {
    tell(error);
  }
}

function tell({ message }) {
  form.hidden = false;
  said.textContent = message;
}
