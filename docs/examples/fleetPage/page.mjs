// A page that shows a pane of any host from NATS over its WebSocket, with no daemon and no server of ours but for these files:
// npm install @nats-io/nats-core @xterm/xterm esbuild tmuxwire; node page.mjs [PORT]
// nats-server needs `websocket { port: 9222, no_tls: true }`, with TLS anywhere but on this machine.
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const { resolve } = createRequire(import.meta.url);
const { outputFiles } = await build({
  entryPoints: [here("page.js")],
  bundle: true,
  format: "esm",
  external: ["crypto"],
  write: false,
});
const FILES = new Map([
  ["/", [here("index.html"), "text/html"]],
  ["/xterm.js", [resolve("@xterm/xterm"), "text/javascript"]],
  ["/xterm.css", [resolve("@xterm/xterm/css/xterm.css"), "text/css"]],
]);

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  const [file, type] = FILES.get(pathname) ?? [];
  if (pathname === "/page.js") response.writeHead(200, { "content-type": "text/javascript" }).end(outputFiles[0].text);
  else if (file === undefined) response.writeHead(404).end();
  else createReadStream(file).pipe(response.writeHead(200, { "content-type": `${type}; charset=utf-8` }));
});
server.listen(Number(process.argv[2] ?? 8000), "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${server.address().port}/`),
);
