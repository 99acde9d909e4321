/**
 * A device of somebody else's making, below the transport: it says hello as an owner and returns what a test has it return.
 * By itself it is a small, honest owner: one tab, panes in a list, a revision.
 */
import type { OwnerRequest } from "../../../protocol/api/freshell/rpc.ts";
import type { FreshellClient } from "../daemon/freshellFixture.ts";
import { FRESHELL_TOKEN } from "../daemon/freshellFixture.ts";

type Answer = (asked: OwnerRequest, owner: FakeOwner) => object | undefined;

interface FakePane {
  readonly id: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Where it says hello. */
export interface Listener {
  connect(hello: object): Promise<FreshellClient>;
}

export class FakeOwner {
  readonly client: FreshellClient;
  readonly deviceId: string;
  /** Requests as they came. */
  readonly asked: OwnerRequest[] = [];
  revision = 1;
  panes: readonly FakePane[] = [{ id: "p1", content: { kind: "browser", url: "http://h/" } }];
  readonly reserved = new Map<string, { readonly paneId: string; readonly revision: number }>();
  readonly done = new Map<string, object>();
  /** Instead of the honest result: the fields of `layout.rpc.result`; undefined for silence. */
  answer: Answer = (asked) => this.honest(asked);
  acks = true;
  #count = 0;

  private constructor(client: FreshellClient, deviceId: string) {
    this.client = client;
    this.deviceId = deviceId;
    client.socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as OwnerRequest;
      if (frame.type === "layout.rpc.request") this.#asked(frame);
    });
  }

  /** @param allow who may change its layout */
  static async start(
    freshell: Listener,
    deviceId: string,
    options: { readonly allow?: readonly string[]; readonly token?: string; readonly deviceType?: string } = {},
  ): Promise<FakeOwner> {
    const { allow, token = FRESHELL_TOKEN, deviceType = "browser" } = options;
    const device = { deviceId, deviceLabel: `label of ${deviceId}`, deviceType, role: "owner" };
    const client = await freshell.connect({ token, device });
    const owner = new FakeOwner(client, deviceId);
    if (allow !== undefined) await owner.allow(...allow);
    return owner;
  }

  /** Frames of one socket are taken in their order: the pong tells that this one was. */
  async allow(...allow: readonly string[]): Promise<void> {
    this.client.send({ type: "device.presence", deviceId: this.deviceId, remoteControl: { allow } });
    await this.settled();
  }

  async settled(): Promise<void> {
    this.client.send({ type: "ping" });
    await this.client.next("pong");
  }

  phases(): readonly string[] {
    return this.asked.map(({ phase }) => phase);
  }

  snapshot(): object {
    const [first, ...rest] = this.panes;
    const leaf = ({ id, content }: FakePane): object => ({ type: "leaf", id, content });
    const tree = rest.reduce(
      (left: object, pane, at) => ({
        type: "split",
        id: `s${at}`,
        direction: "horizontal",
        sizes: [50, 50],
        children: [left, leaf(pane)],
      }),
      leaf(first!),
    );
    const tab = { id: "t1", ownerDeviceId: this.deviceId, title: "one", status: "open", createdAt: 1, updatedAt: 1 };
    return { tabs: [tab], layouts: { t1: tree }, activeTabId: "t1", activePane: { t1: first!.id } };
  }

  publish(fields: object = {}): void {
    this.client.send({
      type: "layout.snapshot.updated",
      ownerDeviceId: this.deviceId,
      workspaceRevision: this.revision,
      capturedAt: Date.now(),
      snapshot: this.snapshot(),
      ...fields,
    });
  }

  result(requestId: string, fields: object): void {
    this.client.send({ type: "layout.rpc.result", requestId, ...fields });
  }

  #asked(asked: OwnerRequest): void {
    this.asked.push(asked);
    if (this.acks)
      this.client.send({ type: "layout.rpc.ack", requestId: asked.requestId, targetDeviceId: this.deviceId });
    const answer = this.answer(asked, this);
    if (answer !== undefined) this.result(asked.requestId, answer);
  }

  honest(asked: OwnerRequest): object {
    const { phase, expectedRevision, idempotencyKey, args } = asked;
    const before = idempotencyKey === undefined ? undefined : this.done.get(idempotencyKey);
    const changes = phase === "apply" || phase === "reserve";
    if (before !== undefined && changes) return before;
    if (changes && expectedRevision !== this.revision) {
      const message = `the revision is ${this.revision}`;
      return { ok: false, error: { code: "REVISION_CONFLICT", message, currentRevision: this.revision } };
    }
    const done = (answer: object): object => {
      if (idempotencyKey !== undefined) this.done.set(idempotencyKey, answer);
      return answer;
    };
    const named = (name: "target" | "to"): string => (args[name] as string | undefined)?.replace("pane:", "") ?? "";
    const target = named("target");
    switch (phase) {
      case "read": {
        const { deviceId: ownerDeviceId, revision: workspaceRevision } = this;
        const capturedAt = Date.now();
        return { ok: true, result: { ownerDeviceId, workspaceRevision, capturedAt, snapshot: this.snapshot() } };
      }
      case "resolve": {
        const pane = this.panes.find(({ id }) => id === target);
        if (pane === undefined) return { ok: false, error: { code: "NOT_FOUND", message: "there is no such pane" } };
        const { kind, terminalId, sessionRef } = pane.content;
        const contentRef = kind === "terminal" ? { terminalId } : sessionRef === undefined ? null : { sessionRef };
        return { ok: true, result: { tabId: "t1", paneId: pane.id, kind, contentRef } };
      }
      case "apply":
        this.revision += 1;
        return done({ ok: true, result: { tabId: "t1", paneId: "p1" }, appliedRevision: this.revision });
      case "reserve": {
        const paneId =
          asked.command === "attach-terminal"
            ? named("to")
            : asked.command === "respawn-pane"
              ? target
              : `new${(this.#count += 1)}`;
        const reservationId = `r-${paneId}-${asked.requestId}`;
        this.reserved.set(reservationId, { paneId, revision: this.revision });
        return { ok: true, result: { reservationId, tabId: "t1", paneId } };
      }
      case "finalize": {
        const { reservationId, contentRef } = args as { reservationId: string; contentRef: { terminalId: string } };
        const place = this.reserved.get(reservationId);
        if (place === undefined) return { ok: false, error: { code: "NOT_FOUND", message: "there is no such place" } };
        this.reserved.delete(reservationId);
        const pane = { id: place.paneId, content: { kind: "terminal", ...contentRef } };
        this.panes = [...this.panes.filter(({ id }) => id !== pane.id), pane];
        this.revision += 1;
        const result = { tabId: "t1", paneId: pane.id, ...contentRef };
        return done({ ok: true, result, appliedRevision: this.revision });
      }
      case "compensate":
        this.reserved.delete((args as { reservationId: string }).reservationId);
        return { ok: true, result: {} };
    }
  }
}

let count = 0;
/** A request with an id, a revision and a key of its own where it needs them. */
export function requestOf(
  command: string,
  targetDeviceId: string,
  args: object,
  fields: object = {},
): Record<string, unknown> {
  count += 1;
  return {
    type: "layout.rpc.request",
    requestId: `req_${count}`,
    callerDeviceId: "caller",
    targetDeviceId,
    command,
    args,
    ...(["read", "resolve", "send-keys", "capture-pane", "wait-for"].includes(command) ? {} : { expectedRevision: 1 }),
    ...(["new-tab", "split-pane", "attach-terminal", "respawn-pane"].includes(command)
      ? { idempotencyKey: `key_${count}` }
      : {}),
    ...fields,
  };
}
