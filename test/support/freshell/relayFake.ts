/**
 * A Freshell server that carries requests to owners, and no more of one: owners connect to it by WebSocket, or are functions of
 * a test. Terminals are numbers. It notes what owners are sent and what they publish.
 */
import type { ServerResponse } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import type { OwnerRequest, RpcOutcome, RpcPhase, RpcRequest } from "../../../protocol/api/freshell/rpc.ts";
import { hasTerminal } from "../../../protocol/api/freshell/rpcCommands.ts";
import { ERROR_SURFACES } from "../../../protocol/errors.ts";
import { type Asked, FreshellFake, send } from "./freshellFake.ts";

type Owner = (request: OwnerRequest) => Promise<RpcOutcome> | RpcOutcome;

export class RelayFake implements AsyncDisposable {
  readonly fake: FreshellFake;
  /** Those that answer here. */
  readonly owners = new Map<string, Owner>();
  readonly asked: OwnerRequest[] = [];
  /** `layout.snapshot.updated` and `device.presence`, as they came. */
  readonly published: Readonly<Record<string, unknown>>[] = [];
  readonly sockets = new Map<string, WebSocket>();
  readonly known = new Set<string>();
  /** Before a terminal is made; it fails with what this throws. */
  onCreate: () => Promise<void> | void = () => undefined;
  terminals = 0;
  hellos = 0;
  heartbeatIntervalMs = 5_000;
  readonly #wss = new WebSocketServer({ noServer: true });
  readonly #results = new Map<string, (outcome: RpcOutcome) => void>();
  #requests = 0;

  private constructor(fake: FreshellFake) {
    this.fake = fake;
    fake.answer = (asked, response) => void this.#answer(asked, response);
    fake.server.on("upgrade", (request, socket, head) =>
      this.#wss.handleUpgrade(request, socket, head, (one) => this.#connected(one)),
    );
  }

  static async start(): Promise<RelayFake> {
    return new RelayFake(await FreshellFake.start());
  }

  #connected(socket: WebSocket): void {
    let deviceId: string | undefined;
    const tell = (message: object): void => socket.send(JSON.stringify(message));
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString("utf8")) as Record<string, unknown> & { readonly type: string };
      if (message.type === "hello") {
        this.hellos += 1;
        ({ deviceId } = message["device"] as { deviceId: string });
        this.sockets.get(deviceId)?.close(4_011);
        this.sockets.set(deviceId, socket);
        this.known.add(deviceId);
        this.owners.set(deviceId, (request) => {
          tell(request);
          return new Promise((resolve) => this.#results.set(request.requestId, resolve));
        });
        tell({ type: "ready", heartbeatIntervalMs: this.heartbeatIntervalMs });
      } else if (message.type === "layout.rpc.result") {
        this.#results.get(message["requestId"] as string)?.(message as unknown as RpcOutcome);
      } else if (message.type !== "layout.rpc.ack") this.published.push(message);
    });
    socket.once("close", () => {
      if (deviceId === undefined || this.sockets.get(deviceId) !== socket) return;
      this.sockets.delete(deviceId);
      this.owners.delete(deviceId);
    });
  }

  async #answer({ method, path, body }: Asked, response: ServerResponse): Promise<void> {
    const reply = (outcome: RpcOutcome, result: object = outcome): void =>
      send(response, outcome.ok ? 200 : ERROR_SURFACES[outcome.error.code].httpStatus, result);
    if (path === "/api/rpc") {
      const request = body as RpcRequest;
      const outcome = await this.#rpc(request);
      reply(outcome, { type: "layout.rpc.result", requestId: request.requestId, ...outcome });
      return;
    }
    const [, deviceId = "", what] = /^\/api\/devices\/([^/?]+)(\/layout)?/.exec(path) ?? [];
    if (method === "GET" && what === "/layout") {
      const outcome = await this.#ask(read(deviceId), "read", {});
      if (!outcome.ok) return reply(outcome, { error: outcome.error });
      const owner = { source: "live", ownerOnline: true, ownerLastSeenAt: 1 };
      return send(response, 200, { ...outcome.result, ...owner });
    }
    if (method === "GET" && deviceId !== "") {
      const entry = { deviceId, deviceLabel: deviceId, deviceType: "cli", online: this.owners.has(deviceId) };
      if (this.known.has(deviceId)) return send(response, 200, { ...entry, lastSeenAt: 1, workspaceRevision: null });
      return send(response, 404, { error: { code: "NOT_FOUND", message: "there is no such device" } });
    }
    if (path === "/api/waits") return send(response, 200, { matched: [], outputSeq: 1, elapsedMs: 1 });
    return send(response, 200, {});
  }

  async #rpc(request: RpcRequest): Promise<RpcOutcome> {
    const { command, args } = request;
    const isNew = command === "new-tab" || command === "split-pane";
    const hasProcess = isNew ? hasTerminal(args) : command === "attach-terminal";
    if (command === "resolve") return this.#ask(request, "resolve", args);
    if (!hasProcess) return this.#ask(request, "apply", args);
    const reserved = await this.#ask(request, "reserve", args);
    if (!reserved.ok || reserved.appliedRevision !== undefined) return reserved;
    const { reservationId } = reserved.result;
    try {
      await this.onCreate();
    } catch (error) {
      await this.#ask(request, "compensate", { reservationId });
      return { ok: false, error: { code: "INVALID_ARGUMENT", message: (error as Error).message } };
    }
    this.terminals += 1;
    const terminalId = isNew ? `t${this.terminals}` : String(args["target"]).slice("terminal:".length);
    return this.#ask(request, "finalize", { reservationId, contentRef: { terminalId } });
  }

  async #ask(request: RpcRequest, phase: RpcPhase, args: OwnerRequest["args"]): Promise<RpcOutcome> {
    const owner = this.owners.get(request.targetDeviceId);
    if (owner === undefined) {
      const isKnown = this.known.has(request.targetDeviceId);
      const code = isKnown ? "DEVICE_OFFLINE" : "NOT_FOUND";
      return { ok: false, error: { code, message: "it is not there", stage: "relay" } };
    }
    const asked: OwnerRequest = { ...request, args, phase, requestId: `r${(this.#requests += 1)}`, deadlineMs: 15_000 };
    this.asked.push(asked);
    return owner(asked);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#wss.clients) socket.terminate();
    await this.fake[Symbol.asyncDispose]();
  }
}

const read = (targetDeviceId: string): RpcRequest => ({
  type: "layout.rpc.request",
  requestId: "read",
  callerDeviceId: "server",
  targetDeviceId,
  command: "read",
  args: {},
});
