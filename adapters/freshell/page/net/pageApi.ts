/** The server's HTTP API, with the device's token. */
import type { TerminalEntry } from "../../../../protocol/api/freshell/freshellHttp.ts";
import type { FreshellFault } from "../../../../protocol/api/freshell/freshellErrors.ts";
import type { FileResponse, FileEntry, FolderResponse } from "../../../../protocol/api/freshell/freshellFiles.ts";
import type { SessionEntry } from "../../../../protocol/api/freshell/sessionEvents.ts";
import type { DeviceEntry } from "../../../../protocol/api/freshell/rpc.ts";
import { askServer, type ErrorShape, type Fetch, jsonOf, Refused } from "../../../pages/askServer.ts";

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
  const headers = {
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(token === undefined ? {} : { "x-auth-token": token }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await askServer(fetch, path, { method, credentials: "omit", headers, ...sent }, SHAPE);
  const answer = await jsonOf(response);
  if (answer !== undefined) return answer as Answer;
  throw new Refused(unknownWords(response.status), response.status, "INTERNAL_ERROR");
}

const SHAPE: ErrorShape = {
  unreachable: "the server cannot be reached",
  read: (body, status) => {
    const { error } = (body ?? {}) as { readonly error?: Partial<FreshellFault> | undefined };
    const { code = "INTERNAL_ERROR", message = unknownWords(status), details } = error ?? {};
    return { code, message, details };
  },
};

const unknownWords = (status: number): string => `the server responds ${status}`;

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
