/**
 * Commands' requests to a device: its layout, and changes to it, always through the server. For this command line's own
 * device a command is also the owner meanwhile, unless `device run` is; for other devices it is only a caller.
 */
import type { DeviceRuntime } from "../devices/deviceRuntime.ts";
import type { ContentRef } from "../../../protocol/api/freshell/deviceLayout.ts";
import { DEVICE_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { DeviceEntry, DeviceLayoutResponse, RpcRequest, RpcSuccess } from "../../../protocol/api/freshell/rpc.ts";
import { isMutation, needsKey, parseArgs, type RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { AppError } from "../../../protocol/errors.ts";
import { CommandFailure } from "./commandFailure.ts";
import { newId } from "../newId.ts";
import { openDevice } from "./deviceFile.ts";
import { deviceIdentity } from "./deviceIdentity.ts";
import { takeDeviceLock } from "./deviceLock.ts";
import type { FreshellCall } from "./freshellCommand.ts";
import { OwnerConnection } from "./ownerConnection.ts";

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
    if (DEVICE_ID.test(this.deviceId)) return;
    throw new AppError(
      "INVALID_ARGUMENT",
      "--device is 1 to 64 letters, digits, _ and -; `freshell list-devices` lists them",
    );
  }

  get isOwn(): boolean {
    return this.deviceId === this.#ownId;
  }

  /** @throws AppError, CommandFailure */
  async change(command: RpcCommand, args: Readonly<Record<string, unknown>>): Promise<Changed> {
    // Before any request.
    const checked = parseArgs(command, args);
    const { options } = this.#call;
    const given = options.number("expected-revision");
    const key = options.text("idempotency-key");
    return this.#online(async (runtime) => {
      for (let retries = 0; ; retries += 1) {
        const expectedRevision =
          given ?? runtime?.workspaceRevision ?? (await this.#readLayout(false)).workspaceRevision;
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

  /** The pane that a selector names, and what it shows. @throws AppError, CommandFailure */
  async resolve(target: string, tab: string | undefined): Promise<ResolvedPane> {
    const args = parseArgs("resolve", { target, tab });
    return this.#online(async () => {
      const { result } = await this.#request("resolve", args, {});
      return result as unknown as ResolvedPane;
    });
  }

  /** @throws AppError, CommandFailure */
  layout(allowStale: boolean): Promise<DeviceLayoutResponse> {
    return this.#online(() => this.#readLayout(allowStale));
  }

  /** The server's entry of it. @throws AppError, CommandFailure */
  status(): Promise<DeviceEntry> {
    return this.#call.session.call({ method: "GET", path: `/api/devices/${this.deviceId}` });
  }

  #readLayout(allowStale: boolean): Promise<DeviceLayoutResponse> {
    const path = `/api/devices/${this.deviceId}/layout${allowStale ? "?allowStale=1" : ""}`;
    return this.#call.session.call({ method: "GET", path });
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
    const lock = await takeDeviceLock(io, false);
    if (lock === undefined) return work(undefined);
    try {
      const device = deviceIdentity(io);
      let connection: OwnerConnection | undefined;
      const runtime = openDevice(io, device.deviceId, (layout) => connection?.publish(layout));
      connection = await session.connect((url, token) => OwnerConnection.open({ url, token, device, runtime }));
      try {
        return await work(runtime);
      } finally {
        connection.close();
      }
    } finally {
      lock.release();
    }
  }
}

const isConflict = (error: unknown): boolean =>
  error instanceof CommandFailure && error.fault.code === "REVISION_CONFLICT";
