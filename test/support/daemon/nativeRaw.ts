/** Requests that `fetch` would not send: any Host, any header, upgrades. Only the head of the response is read. */
import { request } from "node:http";

interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
}

interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export function sendRaw(port: number, raw: RawRequest): Promise<RawResponse> {
  const { method, path, body } = raw;
  const headers = Object.fromEntries(Object.entries(raw.headers).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, method, path, headers, setHost: false, agent: false });
    const settle = (status: number | undefined, got: RawResponse["headers"]): void => {
      resolve({ status: status ?? 0, headers: got });
      outgoing.destroy();
    };
    outgoing.on("response", (response) => settle(response.statusCode, response.headers));
    outgoing.on("upgrade", (response) => settle(response.statusCode, response.headers));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** What a WebSocket client sends (RFC 6455 §4.1). */
export const UPGRADE_HEADERS = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
} as const;
