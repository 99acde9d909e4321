/** A way to a Freshell server on which a test sees each frame of a WebSocket before it goes on, and may keep it back. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";

interface Frame {
  readonly type: string;
  readonly requestId?: string;
  readonly phase?: string;
  readonly [field: string]: unknown;
}

/** Whether it goes on. While that is not said, those behind it wait. */
export type Watch = (from: "client" | "server", frame: Frame) => boolean | Promise<boolean>;

export class WatchedWay implements AsyncDisposable {
  readonly url: string;
  watch: Watch = () => true;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async to(target: string): Promise<WatchedWay> {
    // A page that came this way says so.
    const headersOf = ({ origin, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders => ({
      ...headers,
      host: new URL(target).host,
      ...(origin === way.url ? { origin: target } : origin === undefined ? {} : { origin }),
    });
    const server = createServer((asked, response) => {
      const options = { method: asked.method, headers: headersOf(asked.headers), agent: false };
      const sent = request(target + (asked.url ?? ""), options, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.on("error", () => response.destroy());
        answer.pipe(response);
      });
      sent.on("error", () => response.destroy());
      response.once("close", () => sent.destroy());
      asked.pipe(sent);
    });
    const sockets = new WebSocketServer({ noServer: true });
    server.on("upgrade", (asked, socket, head) =>
      sockets.handleUpgrade(asked, socket, head, (client) => {
        const upstream = new WebSocket(`${target.replace("http", "ws")}${asked.url ?? ""}`);
        const waiting: string[] = [];
        const link = (one: WebSocket, other: WebSocket, from: "client" | "server"): void => {
          one.on("error", () => undefined);
          one.once("close", () => other.terminate());
          let before: Promise<void> | undefined;
          one.on("message", (data: Buffer) => {
            const text = data.toString();
            const look = (): boolean | Promise<boolean> => way.watch(from, JSON.parse(text) as Frame);
            const pass = (goesOn: boolean): void => {
              if (!goesOn) return;
              if (other.readyState === WebSocket.OPEN) other.send(text);
              else waiting.push(text);
            };
            const said = before === undefined ? look() : before.then(look);
            if (typeof said === "boolean") return pass(said);
            const passed = said.then(pass).finally(() => {
              if (before === passed) before = undefined;
            });
            before = passed;
          });
        };
        link(client, upstream, "client");
        link(upstream, client, "server");
        upstream.once("open", () => {
          for (const text of waiting.splice(0)) upstream.send(text);
        });
      }),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const way = new WatchedWay(`http://127.0.0.1:${port}`, async () => {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    return way;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
