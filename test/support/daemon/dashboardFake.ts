/**
 * A dashboard server made of responses a test gives: for what the real one does only when something is broken or rare, such as
 * a delivery that fails twice, a stream that is cut, or a card whose names are an attack. The page and its headers are the
 * real ones.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { AddressInfo } from "node:net";
import type { HostEvent } from "../../../protocol/api/dashboardHosts.ts";

interface FakeRespond {
  readonly agentId: number;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

interface FakeOperation {
  /** `POST /v1/agents/…`. */
  readonly asked: string;
  readonly key: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

interface FakeResponse {
  readonly status: number;
  readonly body: unknown;
}

export type FakeCard = Readonly<Record<string, unknown>>;

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export class FakeDashboard implements AsyncDisposable {
  readonly #pageDir: string;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #streams = new Set<ServerResponse>();
  readonly #paneStreams = new Set<ServerResponse>();
  #eventId = 0;
  cards = new Map<number, FakeCard>();
  /** Every respond that came, and every input typed. */
  readonly responds: FakeRespond[] = [];
  readonly inputs: string[] = [];
  /** Every address that was asked for, and the page that asked. */
  readonly addresses: string[] = [];
  /** The operations that came, and what the next ones get, one each. */
  readonly operations: FakeOperation[] = [];
  readonly operated: FakeResponse[] = [];
  /** The tmux server's name. */
  server = "default";
  /** Of every agent. */
  turns: readonly object[] = [];
  /** Of every agent, for every search. */
  timeline: readonly object[] = [];
  recordings: readonly object[] = [];
  templates: readonly { readonly name: string; readonly text: string }[] = [];
  /** What every search over screens finds. */
  screens: readonly object[] = [];
  /** What the next responds get, one each; afterwards all checks passed. */
  readonly answers: FakeResponse[] = [];
  /** False: the event stream is refused. */
  up = true;
  /** Wanted until a page has given it; every try. */
  token: string | undefined;
  readonly tokens: string[] = [];
  /** SSE text a pane's stream begins with. */
  pane = "";
  /** What each stream of events begins with: of other machines. */
  hosts: readonly HostEvent[] = [];
  #arrival: (() => void) | undefined;

  private constructor(pageDir: string) {
    this.#pageDir = pageDir;
  }

  static async start(pageDir: string, cards: readonly FakeCard[] = []): Promise<FakeDashboard> {
    const fake = new FakeDashboard(pageDir);
    for (const card of cards) fake.cards.set(Number(card["agent_id"]), card);
    await new Promise<void>((resolve) => {
      fake.#server.listen(0, "127.0.0.1", resolve);
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** A card as it is now, told to everyone. */
  card(card: FakeCard): void {
    this.cards.set(Number(card["agent_id"]), card);
    this.event("card_refresh", card);
  }

  event(name: string, data: unknown): void {
    const id = ++this.#eventId;
    for (const stream of this.#streams) stream.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  /** Open ones. */
  get paneStreams(): number {
    return this.#paneStreams.size;
  }

  toPane(frames: string): void {
    for (const stream of this.#paneStreams) stream.write(frames);
  }

  /** Every event stream ends in the middle of its connection. */
  cut(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  /** Resolves at the next respond or input. */
  arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#arrival = resolve;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "http://fake").pathname;
    this.addresses.push(`${request.url} ${request.headers.referer ?? ""}`);
    if (path === "/" || path.startsWith("/page/")) return this.#file(path, response);
    if (path === "/api/token") {
      const given = request.headers.authorization ?? "";
      this.tokens.push(given);
      if (given !== `Bearer ${this.token}`) return unauthorized(response, "That is not this dashboard's token.");
      this.token = undefined;
      response.writeHead(204).end();
      return;
    }
    if (this.token !== undefined) return unauthorized(response, "Unauthorized.");
    if (path === "/api/agents") return json(response, 200, { agents: [...this.cards.values()], server: this.server });
    if (path.startsWith("/api/templates")) return this.#template(request, response, path);
    if (path === "/api/screens")
      return json(response, 200, { found: this.screens, elsewhere: [], unread: 0, unreachable: [] });
    if (/^\/api\/agents\/\d+\/turns$/.test(path)) return json(response, 200, { turns: this.turns });
    if (path === "/v1/timeline") {
      return json(response, 200, {
        entries: this.timeline,
        next: this.timeline.length === 0 ? null : 1,
        keptDays: 30,
        dropped: null,
      });
    }
    if (path === "/api/recordings") return json(response, 200, { recordings: this.recordings });
    if (path.startsWith("/v1/")) return this.#operate(request, response, path);
    if (path === "/api/page/events") {
      const first = this.hosts.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      return this.#stream(this.#streams, response, `: heartbeat\n\n${first.join("")}`);
    }
    const pane = /^\/api\/agents\/(\d+)\/pane\/stream$/.exec(path);
    if (pane !== null) return this.#stream(this.#paneStreams, response, this.pane);
    const respond = /^\/api\/respond\/(\d+)$/.exec(path);
    if (respond !== null) return this.#respond(Number(respond[1]), request, response);
    if (/^\/api\/agents\/\d+\/input$/.test(path)) {
      this.inputs.push(String((await readJson(request))["text"]));
      json(response, 200, { status: "ok" });
      this.#arrived();
      return;
    }
    json(response, 404, { status: "error", error_type: "not_found", message: "Not found." });
  }

  /** As the daemon keeps them, without its checks. */
  async #template(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (request.method === "POST") {
      const { name, text, replaces } = await readJson(request);
      const removed = path.endsWith("/remove") ? name : (replaces ?? name);
      const others = this.templates.filter((one) => one.name !== removed);
      this.templates = path.endsWith("/remove") ? others : [...others, { name: String(name), text: String(text) }];
    }
    json(response, 200, { templates: this.templates });
  }

  async #operate(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const body = request.method === "POST" ? await readJson(request) : {};
    const key = request.headers["idempotency-key"];
    this.operations.push({ asked: `${request.method} ${path}`, key: key === undefined ? key : String(key), body });
    const { status, body: answer } = this.operated.shift() ?? { status: 200, body: {} };
    json(response, status, answer);
    this.#arrived();
  }

  async #respond(agentId: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request);
    this.responds.push({ agentId, key: String(request.headers["idempotency-key"]), body });
    const fine = { status: "ok", agent_id: agentId, mode: body["mode"], new_state: "processing", latency_ms: 84 };
    const answer = this.answers.shift() ?? { status: 200, body: { ...fine, delivery: "submitted" } };
    json(response, answer.status, answer.body);
    this.#arrived();
  }

  #arrived(): void {
    this.#arrival?.();
    this.#arrival = undefined;
  }

  #stream(streams: Set<ServerResponse>, response: ServerResponse, first: string): void {
    if (!this.up) {
      json(response, 503, { status: "error", error_type: "unavailable", message: "the daemon is starting" });
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(first);
    streams.add(response);
    response.on("close", () => streams.delete(response));
  }

  #file(path: string, response: ServerResponse): void {
    const name = path === "/" ? "index.html" : path.slice("/page/".length);
    response.writeHead(200, { "content-type": TYPES[extname(name)], "content-security-policy": CSP });
    response.end(readFileSync(join(this.#pageDir, name)));
  }
}

const unauthorized = (response: ServerResponse, message: string): void =>
  json(response, 401, { status: "error", error_type: "unauthorized", message });

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}
