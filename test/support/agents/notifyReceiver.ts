/** An address for notifications, on loopback: notes every request, and answers as it is told. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

interface Received {
  readonly method: string;
  readonly url: string;
  readonly body: {
    readonly id: string;
    readonly event: string;
    readonly state: "open" | "withdrawn";
    readonly agent: { readonly id: string; readonly name: string };
    readonly title: string;
    readonly [name: string]: unknown;
  };
  readonly atMs: number;
}

interface NotifyReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Of the next responses; the last one stays. */
  status: number;
}

export async function notifyReceiver(): Promise<NotifyReceiver> {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk));
    request.on("end", () => {
      const { method = "", url = "" } = request;
      if (receiver.status === 200) {
        const body = JSON.parse(text === "" ? "{}" : text) as Received["body"];
        received.push({ method, url, body, atMs: performance.now() });
      }
      response.writeHead(receiver.status, { connection: "close" }).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const receiver: NotifyReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    status: 200,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
  return receiver;
}
