/** Sends one notification. Nothing follows redirects: an address is where the user said, and nowhere else. */
import type { HttpRequest } from "./notices.ts";

export interface Sent {
  readonly status: number;
  /** Of the `Retry-After` header. */
  readonly retryAfterMs: number | undefined;
  /** At most `MAX_BODY_CHARS`. Foreign text. */
  readonly body: string;
}

/** @throws Error when there is no response */
export type Send = (request: HttpRequest, signal: AbortSignal) => Promise<Sent>;

const MAX_BODY_CHARS = 16_384;

export const sendHttp: Send = async ({ method, url, headers, body }, signal) => {
  const response = await fetch(url, {
    method,
    headers,
    redirect: "manual",
    signal,
    ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
  });
  return {
    status: response.status,
    retryAfterMs: retryAfterMs(response.headers.get("retry-after")),
    body: await start(response),
  };
};

const retryAfterMs = (header: string | null): number | undefined =>
  header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined;

async function start({ body }: Response): Promise<string> {
  if (body === null) return "";
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_BODY_CHARS) break;
  }
  return text.slice(0, MAX_BODY_CHARS);
}
