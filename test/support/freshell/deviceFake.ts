/** A device in process: its runtime with a store in memory, a clock that stands still, and ids that count. */
import { DeviceRuntime, type DeviceRequest } from "../../../adapters/freshell/devices/deviceRuntime.ts";
import type { SavedDevice } from "../../../adapters/freshell/devices/savedDevice.ts";
import type { LayoutSnapshot, OwnerLayout } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { RpcFailure, RpcSuccess } from "../../../protocol/api/freshell/rpc.ts";
import type { RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";

type Asking = Partial<Omit<DeviceRequest, "command" | "args">>;

export class DeviceFake {
  isFull = false;
  nowMs = 1_000;
  nowUnixMs = 1_700_000_000_000;
  saves = 0;
  readonly published: OwnerLayout[] = [];
  runtime: DeviceRuntime;
  readonly #deviceId: string;
  /** Nothing in it ever changes: a change is another one. */
  #kept: unknown;
  #ids = 0;

  constructor(kept?: unknown, deviceId = "desk") {
    this.#kept = kept;
    this.#deviceId = deviceId;
    this.runtime = this.#open();
  }

  /** As after a crash: what was not saved is gone. */
  restart(): void {
    this.runtime = this.#open();
  }

  /** As JSON, which is what a file holds. */
  get kept(): string | undefined {
    return this.#kept === undefined ? undefined : JSON.stringify(this.#kept);
  }

  get layout(): LayoutSnapshot {
    return this.runtime.layout().snapshot;
  }

  get saved(): SavedDevice {
    return JSON.parse(this.kept ?? "null") as SavedDevice;
  }

  ask(command: RpcCommand, args: object = {}, more: Asking = {}): RpcSuccess | RpcFailure {
    return this.runtime.respond({
      command,
      args: args as Readonly<Record<string, unknown>>,
      callerDeviceId: "caller",
      phase: "apply",
      expectedRevision: this.runtime.workspaceRevision,
      idempotencyKey: `key-${this.#ids++}`,
      ...more,
    });
  }

  /** @throws Error when it is refused */
  done(command: RpcCommand, args: object = {}, more: Asking = {}): RpcSuccess {
    const outcome = this.ask(command, args, more);
    if (!outcome.ok) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
    return outcome;
  }

  /** The code and what else there is. @throws Error when it succeeds */
  refused(command: RpcCommand, args: object = {}, more: Asking = {}): RpcFailure["error"] {
    const outcome = this.ask(command, args, more);
    if (outcome.ok) throw new Error(`${command} was done: ${JSON.stringify(outcome)}`);
    return outcome.error;
  }

  /** A tab with a page in it; the ids of both. */
  tab(title: string): { readonly tabId: string; readonly paneId: string } {
    const { result } = this.done("new-tab", { title, browser: "https://example.org" });
    return result as { tabId: string; paneId: string };
  }

  /** The id of a new pane behind another. */
  split(paneId: string, direction: "horizontal" | "vertical" = "horizontal"): string {
    const args = { target: `pane:${paneId}`, direction, editor: "/tmp/notes" };
    return this.done("split-pane", args).result["paneId"] as string;
  }

  reserve(command: RpcCommand, args: object, more: Asking = {}): RpcSuccess {
    return this.done(command, args, { phase: "reserve", ...more });
  }

  finalize(command: RpcCommand, reservationId: unknown, terminalId: string): RpcSuccess | RpcFailure {
    return this.ask(command, { reservationId, contentRef: { terminalId } }, { phase: "finalize" });
  }

  #open(): DeviceRuntime {
    return new DeviceRuntime({
      deviceId: this.#deviceId,
      store: {
        load: () => JSON.parse(this.kept ?? "null") ?? undefined,
        save: (saved) => {
          if (this.isFull) throw new Error("no space left");
          this.#kept = saved;
          this.saves += 1;
        },
      },
      clock: { nowMs: () => this.nowMs },
      nowUnixMs: () => this.nowUnixMs,
      newId: () => `id-${this.#ids++}`,
      onChange: (layout) => this.published.push(layout),
    });
  }
}

/** What a device has kept that has so many tabs, `t0` to begin with, with one pane each. */
export function manyTabs(count: number): object {
  const ids = Array.from({ length: count }, (_, at) => `t${at}`);
  const tab = { ownerDeviceId: "desk", title: "more", status: "running", createdAt: 1, updatedAt: 1 };
  return {
    ownerDeviceId: "desk",
    workspaceRevision: 1,
    tabs: ids.map((id) => ({ id, ...tab })),
    layouts: Object.fromEntries(ids.map((id) => [id, { type: "leaf", id: `p-${id}`, content: { kind: "picker" } }])),
    activeTabId: "t0",
    activePane: Object.fromEntries(ids.map((id) => [id, `p-${id}`])),
  };
}
