/**
 * The team's own daemon, teamd, as far as this contract speaks to it: threads, and whether a path may be written. Nothing
 * else is ever called: no inbox, no lease. Used by the daemon and, inside pi, by the extension, so it needs nothing but
 * `fetch`. Only this machine is spoken to, and redirects are not followed: the token goes nowhere else.
 */
import { fieldsOf } from "../../protocol/text/jsonObject.ts";
import { isLoopbackAddress } from "../kit/peers/addresses.ts";
import { teamError } from "./teamErrors.ts";
import { THREAD_TAIL_MESSAGES } from "./teamLimits.ts";

export interface Teamd {
  readonly url: string;
  readonly token: string;
  readonly teamId: string;
  /** The author of these posts. */
  readonly agentId: string;
}

interface WritePermission {
  readonly allow: boolean;
  readonly reason: string;
}

/** teamd responds in milliseconds; one that needs longer will not respond at all. */
const RESPONSE_WITHIN_MS = 5_000;
const MAX_RESPONSE_BYTES = 4_194_304;
const MAX_REASON_CHARS = 200;
/** In no title, task or participant: the search finds nothing, and teamd has said that it knows the team. */
const NO_THREAD = "tmuxwire:none";

interface TeamdResponse {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export class TeamdClient {
  readonly #teamd: Teamd;

  /** @throws AppError invalid_argument for an address that is not this machine's */
  constructor(teamd: Teamd) {
    requireLoopback(teamd.url);
    this.#teamd = teamd;
  }

  /** Checks that it responds, for this team, by a search that finds no thread. @throws AppError teamd_unavailable */
  async requireTeam(): Promise<void> {
    const query = new URLSearchParams({ teamId: this.#teamd.teamId, q: NO_THREAD });
    const response = await this.#call("GET", `/v1/threads/search?${query.toString()}`);
    // Before threads could be searched, the route itself was unknown: what follows finds out.
    if (response.status === 404 && codeOf(response) === "NOT_FOUND") return;
    succeeded(response);
  }

  /** Its id. @param participants whom its messages reach besides us. @throws AppError teamd_unavailable */
  async createThread(title: string, participants: readonly string[] = []): Promise<string> {
    const { teamId, agentId } = this.#teamd;
    const everybody = [...new Set([agentId, ...participants])];
    const response = await this.#call("POST", "/v1/threads", { teamId, agentId, title, participants: everybody });
    const { id } = fieldsOf(succeeded(response)["thread"]) ?? {};
    if (typeof id === "string" && id !== "") return id;
    throw teamError("teamd_unavailable", "teamd made a thread without an id; is it the version this contract is of?");
  }

  /** @throws AppError thread_not_found, teamd_unavailable */
  async requireThread(threadId: string): Promise<void> {
    await this.#tail(threadId, 1);
  }

  /** As `post`, unless its last messages have one of ours that says the same. */
  async postOnce(threadId: string, message: string): Promise<void> {
    const { messages } = await this.#tail(threadId, THREAD_TAIL_MESSAGES);
    const isOurs = (value: unknown): boolean => {
      const { from, body } = fieldsOf(value) ?? {};
      return from === this.#teamd.agentId && body === message.trim();
    };
    if (Array.isArray(messages) && messages.some(isOurs)) return;
    await this.post(threadId, message);
  }

  /** @throws AppError thread_not_found, teamd_unavailable */
  async post(threadId: string, message: string): Promise<void> {
    const { teamId, agentId } = this.#teamd;
    const path = `/v1/threads/${encodeURIComponent(threadId)}/messages`;
    const response = await this.#call("POST", path, { teamId, agentId, message });
    if (response.status === 404 && codeOf(response) !== "TEAM_NOT_FOUND") {
      throw teamError("thread_not_found", `thread ${threadId} does not exist`);
    }
    succeeded(response);
  }

  /** @param path relative to the project, `.` for all of it. @throws AppError teamd_unavailable */
  async canWrite(path: string): Promise<WritePermission> {
    const { teamId, agentId } = this.#teamd;
    const query = new URLSearchParams({ teamId, agentId, path });
    const { allow, reason } = succeeded(await this.#call("GET", `/v1/can-write?${query.toString()}`));
    return { allow: allow === true, reason: typeof reason === "string" ? reason.slice(0, MAX_REASON_CHARS) : "denied" };
  }

  async #tail(threadId: string, limit: number): Promise<Record<string, unknown>> {
    const query = new URLSearchParams({ teamId: this.#teamd.teamId, limit: String(limit) });
    const response = await this.#call("GET", `/v1/threads/${encodeURIComponent(threadId)}/tail?${query.toString()}`);
    if (response.status === 404 && codeOf(response) !== "TEAM_NOT_FOUND") {
      throw teamError("thread_not_found", `thread ${threadId} does not exist; leave threadId out to have one made`);
    }
    return succeeded(response);
  }

  async #call(method: "GET" | "POST", path: string, body?: object): Promise<TeamdResponse> {
    const { url, token } = this.#teamd;
    try {
      const response = await fetch(`${url.replace(/\/+$/, "")}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: "error",
        signal: AbortSignal.timeout(RESPONSE_WITHIN_MS),
      });
      return { status: response.status, body: fieldsOf(JSON.parse(await boundedText(response))) ?? {} };
    } catch (error) {
      throw unavailable(`teamd does not respond at ${url}; is it running?`, error);
    }
  }
}

/** @throws AppError invalid_argument */
export function requireLoopback(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const host = parsed?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  const isHere = host === "localhost" || isLoopbackAddress(host);
  if (parsed?.protocol === "http:" && isHere && parsed.username === "" && parsed.password === "") return;
  throw teamError(
    "invalid_argument",
    "teamd.url must be an http address of this machine, such as http://127.0.0.1:4711",
  );
}

function succeeded(response: TeamdResponse): Record<string, unknown> {
  if (response.status >= 200 && response.status < 300) return response.body;
  if (response.status === 404 && codeOf(response) === "TEAM_NOT_FOUND") {
    throw unavailable("teamd serves another team than the one that was named; is teamId spelt right?");
  }
  const { message } = fieldsOf(response.body["error"]) ?? {};
  const reason = typeof message === "string" ? `: ${message.slice(0, MAX_REASON_CHARS)}` : "";
  throw unavailable(`teamd refused (${response.status} ${codeOf(response)})${reason}`);
}

function codeOf({ body }: TeamdResponse): string {
  const { code } = fieldsOf(body["error"]) ?? {};
  return typeof code === "string" ? code.slice(0, MAX_REASON_CHARS) : "";
}

const unavailable = (message: string, cause?: unknown) => teamError("teamd_unavailable", message, { cause });

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array;
    size += bytes.length;
    if (size > MAX_RESPONSE_BYTES) throw new Error("the response is too long");
    chunks.push(bytes);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? "{}" : text;
}
