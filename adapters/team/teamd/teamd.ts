/**
 * A client of teamd, the team's own daemon, for threads and for whether a path may be written. It calls nothing else: no
 * inbox, no lease. The daemon and, inside pi, the extension use it, so it needs only `fetch`. It connects only to this
 * machine and follows no redirects, so that the token goes nowhere else.
 */
import { fieldsOf } from "../../../protocol/text/jsonObject.ts";
import { isLoopbackAddress } from "../../kit/peers/addresses.ts";
import { teamError } from "../teamErrors.ts";
import { MAX_REASON_CHARS, MAX_RESPONSE_BYTES, RESPONSE_WITHIN_MS, THREAD_TAIL_MESSAGES } from "../teamLimits.ts";

export interface Teamd {
  readonly url: string;
  readonly token: string;
  readonly teamId: string;
  /** The author of these posts. */
  readonly agentId: string;
}

/** Matches no title, task or participant, so the search finds nothing but shows that teamd knows the team. */
const NO_THREAD = "tmuxwire:none";

interface TeamdResponse {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export class TeamdClient {
  readonly #teamd: Teamd;

  /** @throws AppError invalid_argument if the address is not on this machine */
  constructor(teamd: Teamd) {
    requireLoopback(teamd.url);
    this.#teamd = teamd;
  }

  /** Checks that teamd responds for this team, with a search that finds no thread. @throws AppError teamd_unavailable */
  async requireTeam(): Promise<void> {
    const query = new URLSearchParams({ teamId: this.#teamd.teamId, q: NO_THREAD });
    const response = await this.#call("GET", `/v1/threads/search?${query.toString()}`);
    // Older versions of teamd lack this route; the requests that follow will check.
    if (response.status === 404 && codeOf(response) === "NOT_FOUND") return;
    succeeded(response);
  }

  /** Returns the thread's id. @param participants who get its messages besides us. @throws AppError teamd_unavailable */
  async createThread(title: string, participants: readonly string[] = []): Promise<string> {
    const { teamId, agentId } = this.#teamd;
    const everybody = [...new Set([agentId, ...participants])];
    const response = await this.#call("POST", "/v1/threads", { teamId, agentId, title, participants: everybody });
    const { id } = fieldsOf(succeeded(response)["thread"]) ?? {};
    if (typeof id === "string" && id !== "") return id;
    throw teamError("teamd_unavailable", "teamd created a thread without an id; check that its version is supported");
  }

  /** @throws AppError thread_not_found, teamd_unavailable */
  async requireThread(threadId: string): Promise<void> {
    await this.#tail(threadId, 1);
  }

  /** Like `post`, unless one of the thread's last messages is ours and has the same text. */
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
    succeeded(response, `thread ${threadId} does not exist`);
  }

  /** @param path relative to the project, `.` for the whole project. @throws AppError teamd_unavailable */
  async canWrite(path: string) {
    const { teamId, agentId } = this.#teamd;
    const query = new URLSearchParams({ teamId, agentId, path });
    const { allow, reason } = succeeded(await this.#call("GET", `/v1/can-write?${query.toString()}`));
    return { allow: allow === true, reason: typeof reason === "string" ? reason.slice(0, MAX_REASON_CHARS) : "denied" };
  }

  async #tail(threadId: string, limit: number): Promise<Record<string, unknown>> {
    const query = new URLSearchParams({ teamId: this.#teamd.teamId, limit: String(limit) });
    const response = await this.#call("GET", `/v1/threads/${encodeURIComponent(threadId)}/tail?${query.toString()}`);
    return succeeded(response, `thread ${threadId} does not exist; omit threadId to create one`);
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
      throw unavailable(`teamd does not respond at ${url}; check that it is running`, error);
    }
  }
}

/** @throws AppError invalid_argument */
export function requireLoopback(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const host = parsed?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  const isHere = host === "localhost" || isLoopbackAddress(host);
  if (parsed?.protocol === "http:" && isHere && parsed.username === "" && parsed.password === "") return;
  throw teamError("invalid_argument", "teamd.url must be an http URL of this machine, such as http://127.0.0.1:4711");
}

/** @param noThread of a request for a thread: the message if there is none */
function succeeded(response: TeamdResponse, noThread?: string): Record<string, unknown> {
  if (response.status >= 200 && response.status < 300) return response.body;
  if (response.status === 404 && codeOf(response) === "TEAM_NOT_FOUND") {
    throw unavailable("teamd serves another team; check teamId");
  }
  if (response.status === 404 && noThread !== undefined) throw teamError("thread_not_found", noThread);
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
