// A page that shows a pane in xterm.js and types into it: npm install @xterm/xterm tmuxwire; node page.mjs [PORT]
// /player plays recordings of `tmuxwire rec`, without a daemon.
// The daemon must allow the page's origin: TMUXWIRE_ALLOWED_ORIGINS=http://127.0.0.1:8000 tmuxwire serve
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const { resolve } = createRequire(import.meta.url);
const FILES = new Map([
  ["/", [here("index.html"), "text/html"]],
  ["/player", [here("player.html"), "text/html"]],
  ["/player.js", [here("player.js"), "text/javascript"]],
  ["/page.js", [here("page.js"), "text/javascript"]],
  ["/castPlayer.js", [fileURLToPath(import.meta.resolve("tmuxwire/player")), "text/javascript"]],
  ["/client.js", [fileURLToPath(import.meta.resolve("tmuxwire/client")), "text/javascript"]],
  ["/xterm.js", [resolve("@xterm/xterm"), "text/javascript"]],
  ["/xterm.css", [resolve("@xterm/xterm/css/xterm.css"), "text/css"]],
]);

const server = createServer((request, response) => {
  const [file, type] = FILES.get(new URL(request.url, "http://localhost").pathname) ?? [];
  if (file === undefined) response.writeHead(404).end();
  else createReadStream(file).pipe(response.writeHead(200, { "content-type": `${type}; charset=utf-8` }));
});
server.listen(Number(process.argv[2] ?? 8000), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}/`),
);
