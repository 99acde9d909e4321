/**
 * Commands' requests to a device: its layout, and changes to it, always through the server. For this command line's own
 * device a command is also the owner meanwhile, unless `device run` is; for other devices it is only a caller.
 */
import { type ContentRef, contentRefOf } from "../../../protocol/api/freshell/deviceLayout.ts";
import { DEVICE_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { DeviceEntry, DeviceLayoutResponse, RpcRequest, RpcSuccess } from "../../../protocol/api/freshell/rpc.ts";
import {
  isMutation,
  needsKey,
  parseArgs,
  RPC_ARGS,
  type RpcCommand,
} from "../../../protocol/api/freshell/rpcCommands.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { DeviceRuntime } from "../devices/deviceRuntime.ts";
import { findPane, findTab, leavesIn } from "../devices/layoutTarget.ts";
import { newId } from "../newId.ts";
import { deviceIdentity } from "./deviceIdentity.ts";
import { type FreshellCall, get } from "./freshellCommand.ts";
import { takeLock } from "./homeLock.ts";
import { DEVICE_LOCK, OwnDevice } from "./ownDevice.ts";

/** Retries of a change without a given revision after a revision conflict. */
const MAX_RETRIES = 3;

export type Changed = Readonly<Record<string, unknown>> & { readonly appliedRevision: number };

/** What a pane shows. */
interface ResolvedPane {
  readonly tabId: string;
  readonly paneId: string;
  readonly kind: string;
  readonly contentRef: ContentRef | null;
}

export type TabList = Awaited<ReturnType<DeviceCalls["tabs"]>>;
export type PaneList = Awaited<ReturnType<DeviceCalls["panes"]>>;

export class DeviceCalls {
  /** The target device. */
  readonly deviceId: string;
  readonly #call: FreshellCall;
  readonly #ownId: string;

  /** @throws AppError INVALID_ARGUMENT, INTERNAL_ERROR */
  constructor(call: FreshellCall, device = call.options.text("device")) {
    this.#call = call;
    this.#ownId = deviceIdentity(call.io).deviceId;
    this.deviceId = device ?? this.#ownId;
    if (!DEVICE_ID.test(this.deviceId))
      throw invalidArgument("--device is 1 to 64 letters, digits, _ and -; `freshell list-devices` lists them");
  }

  get isOwn(): boolean {
    return this.deviceId === this.#ownId;
  }

  /** @throws AppError */
  async change(command: RpcCommand, args: Readonly<Record<string, unknown>>): Promise<Changed> {
    // Before any request.
    const missing = Object.entries(RPC_ARGS[command].entries).find(
      ([name, { type }]) => type !== "optional" && args[name] === undefined,
    );
    if (missing !== undefined)
      throw invalidArgument(`${command} needs --${missing[0]}: see \`freshell help ${command}\``);
    if (command === "resize-pane" && (args["x"] ?? args["y"]) === undefined)
      throw invalidArgument(`${command} needs -x or -y`);
    const checked = parseArgs(command, args);
    const { options } = this.#call;
    const given = options.number("expected-revision");
    const key = options.text("idempotency-key");
    return this.#online(async (runtime) => {
      for (let retries = 0; ; retries += 1) {
        const expectedRevision = given ?? runtime?.workspaceRevision ?? (await this.#read(false)).workspaceRevision;
        try {
          const { result, appliedRevision } = await this.#request(command, checked, {
            expectedRevision,
            idempotencyKey: key ?? (needsKey(command) ? newId() : undefined),
          });
          return { ...result, appliedRevision: appliedRevision ?? expectedRevision };
        } catch (error) {
          if (given !== undefined || retries === MAX_RETRIES || !isConflict(error)) throw error;
        }
      }
    });
  }

  /** The pane that a selector names, and what it shows. @throws AppError */
  async resolve(target: string, tab: string | undefined): Promise<ResolvedPane> {
    const args = parseArgs("resolve", { target, tab });
    return this.#online(async () => {
      const { result } = await this.#request("resolve", args, {});
      return result as unknown as ResolvedPane;
    });
  }

  /** With the index that `tab-index:` counts. @throws AppError */
  async tabs(allowStale: boolean) {
    const { snapshot, ...workspace } = await this.#layout(allowStale);
    const { activeTabId } = snapshot;
    const tabs = snapshot.tabs.map((tab, index) => ({
      ...tab,
      index,
      active: tab.id === activeTabId,
      panes: leavesIn(snapshot, tab.id).length,
    }));
    return { ...workspace, activeTabId, tabs };
  }

  /**
   * A pane's data comes from the owner, its place from the tree, with the index that `pane-index:` counts within its tab.
   * @throws AppError
   */
  async panes(allowStale: boolean, within: string | undefined) {
    const { snapshot, ...workspace } = await this.#layout(allowStale);
    const { panes = [], activePane } = snapshot;
    const tabs = within === undefined ? snapshot.tabs : [findTab(snapshot, within)];
    const listed = tabs.flatMap((tab) =>
      leavesIn(snapshot, tab.id).map(({ id, content }, index) => ({
        ownerDeviceId: tab.ownerDeviceId,
        status: tab.status,
        updatedAt: tab.updatedAt,
        ...(content.kind === "browser" ? { url: content.url } : {}),
        ...(content.kind === "editor" ? { filePath: content.filePath } : {}),
        ...panes.find((pane) => pane.id === id),
        id,
        tabId: tab.id,
        kind: content.kind,
        contentRef: contentRefOf(content),
        index,
        active: activePane[tab.id] === id,
      })),
    );
    return { ...workspace, panes: listed };
  }

  /** The active pane by default; none of a device without tabs. @throws AppError */
  async pane(target: string | undefined, within: string | undefined) {
    const { snapshot, ...workspace } = await this.#layout(false);
    const isEmpty = target === undefined && within === undefined && snapshot.tabs.length === 0;
    if (isEmpty) return { ...workspace, found: undefined };
    const found = findPane(snapshot, target, within);
    return { ...workspace, found: { ...found, contentRef: contentRefOf(found.leaf.content) } };
  }

  /** The server's entry of it. @throws AppError */
  status(): Promise<DeviceEntry> {
    return this.#call.session.call(get(`/api/devices/${this.deviceId}`));
  }

  #layout(allowStale: boolean): Promise<DeviceLayoutResponse> {
    return this.#online(() => this.#read(allowStale));
  }

  #read(allowStale: boolean): Promise<DeviceLayoutResponse> {
    return this.#call.session.call(get(`/api/devices/${this.deviceId}/layout${allowStale ? "?allowStale=1" : ""}`));
  }

  /** A change has several steps: a command that is told to stop still completes them. */
  #request(
    command: RpcCommand,
    args: object,
    more: Pick<RpcRequest, "expectedRevision" | "idempotencyKey">,
  ): Promise<RpcSuccess> {
    const body: RpcRequest = {
      type: "layout.rpc.request",
      requestId: newId(),
      callerDeviceId: this.#ownId,
      targetDeviceId: this.deviceId,
      command,
      args: args as RpcRequest["args"],
      ...more,
    };
    const changes = isMutation(command);
    return this.#call.session.call({ method: "POST", path: "/api/rpc", body, changes, isFinished: changes });
  }

  /** With the device online, if it is ours. */
  async #online<Result>(work: (runtime: DeviceRuntime | undefined) => Promise<Result>): Promise<Result> {
    if (!this.isOwn) return work(undefined);
    const { io, session } = this.#call;
    const lock = await takeLock(io, DEVICE_LOCK);
    // `device run` is the owner.
    if (lock === undefined) return work(undefined);
    try {
      const own = new OwnDevice(io, session);
      await own.online();
      try {
        return await work(own.runtime);
      } finally {
        own.close();
      }
    } finally {
      lock.release();
    }
  }
}

const isConflict = (error: unknown): boolean => error instanceof AppError && error.code === "REVISION_CONFLICT";
