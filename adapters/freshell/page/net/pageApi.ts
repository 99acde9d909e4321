/** The server's HTTP API, with the device's token. */
import type { TerminalEntry } from "../../../../protocol/api/freshell/freshellHttp.ts";
import type { FreshellFault } from "../../../../protocol/api/freshell/freshellErrors.ts";
import type { FileResponse, FileEntry, FolderResponse } from "../../../../protocol/api/freshell/freshellFiles.ts";
import type { SessionEntry } from "../../../../protocol/api/freshell/sessionEvents.ts";
import type { DeviceEntry } from "../../../../protocol/api/freshell/rpc.ts";

/** A refusal in the server's words. */
export class Refused extends Error {
  /** 0 without a response. */
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(message: string, status: number, code: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "Refused";
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

interface Asking {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  readonly token?: string | undefined;
}

/** @throws Refused */
export async function callServer<Answer>(
  fetch: Fetch,
  path: string,
  { method = "GET", body, token }: Asking,
): Promise<Answer> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "omit",
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token === undefined ? {} : { "x-auth-token": token }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new Refused("the server cannot be reached", 0, "UNREACHABLE");
  }
  const answer = (await response.json().catch(() => undefined)) as { readonly error?: FreshellFault } | undefined;
  if (response.ok && answer !== undefined) return answer as Answer;
  const {
    code = "INTERNAL_ERROR",
    message = `the server responds ${response.status}`,
    details,
  } = (answer?.error ?? {}) as Partial<FreshellFault>;
  throw new Refused(message, response.status, code, details);
}

/** Requests of a logged-in page. */
export class PageApi {
  readonly #fetch: Fetch;
  readonly #token: () => Promise<string>;

  constructor(fetch: Fetch, token: () => Promise<string>) {
    this.#fetch = fetch;
    this.#token = token;
  }

  terminals(): Promise<readonly TerminalEntry[]> {
    return this.#get("/api/terminals");
  }

  createTerminal(options: object): Promise<TerminalEntry> {
    return this.#post("/api/terminals", options);
  }

  /** A conversation with the agent that has those. */
  createSession(options: object): Promise<SessionEntry> {
    return this.#post("/api/agent-sessions", { ...options, provider: "sdk" });
  }

  devices(): Promise<readonly DeviceEntry[]> {
    return this.#get("/api/devices");
  }

  readFile(path: string): Promise<FileResponse> {
    return this.#get(`/api/files?path=${encodeURIComponent(path)}`);
  }

  writeFile(path: string, text: string, etag: string | null): Promise<FileEntry> {
    return this.#post("/api/files", { path, text, etag });
  }

  listFolder(path: string): Promise<FolderResponse> {
    return this.#get(`/api/files/list?path=${encodeURIComponent(path)}`);
  }

  async #get<Answer>(path: string): Promise<Answer> {
    return callServer(this.#fetch, path, { token: await this.#token() });
  }

  async #post<Answer>(path: string, body: unknown): Promise<Answer> {
    return callServer(this.#fetch, path, { method: "POST", body, token: await this.#token() });
  }
}
