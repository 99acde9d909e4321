/**
 * A device that owns its layout: it executes what the server asks on behalf of callers, one request at a time. A change
 * is saved before its result is sent, increments the revision, and is atomic. It runs in a command line and in a page:
 * storage, time and ids are passed in.
 */
import * as v from "valibot";
import {
  checked,
  contentRefOf,
  contentRefSchema,
  type LayoutLeaf,
  type LayoutPane,
  type LayoutSnapshot,
  type LayoutTab,
  type OwnerLayout,
  parseSnapshot,
  requireWithin,
  utf8Length,
} from "../../../protocol/api/freshell/deviceLayout.ts";
import { faultOf } from "../../../protocol/api/freshell/freshellErrors.ts";
import {
  type OwnerRequest,
  RESERVATION_KEPT_MS,
  type RpcFault,
  type RpcOutcome,
} from "../../../protocol/api/freshell/rpc.ts";
import {
  hasTerminal,
  isMutation,
  needsKey,
  parseArgs,
  RPC_ARGS,
  type RpcArgs,
} from "../../../protocol/api/freshell/rpcCommands.ts";
import { AppError, invalidArgument, toAppError } from "../../../protocol/errors.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { requireSameRequest } from "../../../daemon/ops/once.ts";
import { type LayoutMutation, mutate, type MutationContext, type NewIds } from "./layoutMutations.ts";
import { findPane, type FoundPane, leavesIn } from "./layoutTarget.ts";
import { type AskedWithKey, type DeviceStore, memoryOf, openSaved, type SavedDevice } from "./savedDevice.ts";

interface DeviceOptions {
  readonly deviceId: string;
  readonly store: DeviceStore;
  /** Monotonic, for the age of reservations. */
  readonly clock: Pick<Clock, "nowMs">;
  readonly nowUnixMs: () => number;
  /** Unique among all it has ever used; visible ASCII characters. */
  readonly newId: () => string;
  /** After each change, when it has been saved. */
  readonly onChange?: ((layout: OwnerLayout) => void) | undefined;
}

/** The part of a request that counts here; the rest is the server's. */
export type DeviceRequest = Pick<
  OwnerRequest,
  "command" | "args" | "callerDeviceId" | "expectedRevision" | "idempotencyKey" | "phase" | "reservationId"
>;

interface Done {
  readonly result: Readonly<Record<string, unknown>>;
  readonly appliedRevision?: number;
}

/** As much as the server accepts. */
const MAX_MESSAGE_CHARS = 1_000;
/** Stands for a process that does not exist yet. */
const TO_COME = { terminalId: "to-come" };

export class DeviceRuntime {
  readonly #options: DeviceOptions;
  readonly #reservations: Reservations;
  #saved: SavedDevice;

  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT when what was saved is not a layout; what the store throws */
  constructor(options: DeviceOptions) {
    const { deviceId, store, clock, nowUnixMs, newId } = options;
    this.#options = options;
    this.#reservations = new Reservations(clock);
    const { saved, isMigrated } = openSaved(store.load(), { deviceId, nowUnixMs: nowUnixMs(), newId });
    if (isMigrated) store.save(saved);
    this.#saved = saved;
  }

  get workspaceRevision(): number {
    return this.#saved.workspaceRevision;
  }

  /** What `read` returns, and what is published. */
  layout(): OwnerLayout {
    return layoutOf(this.#saved, this.#options.nowUnixMs());
  }

  respond(request: DeviceRequest): RpcOutcome {
    try {
      return { ok: true, ...this.#perform(request) };
    } catch (thrown) {
      return { ok: false, error: this.#faultOf(thrown) };
    }
  }

  /**
   * A change by the device's own user, outside the commands. Returns the new revision.
   * @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT when the result is not a layout, and what `make` throws
   */
  change(make: (layout: LayoutSnapshot) => LayoutSnapshot): number {
    const { panes: _derived, ...layout } = this.layout().snapshot;
    this.#commit(parseSnapshot(make(layout)), {}, undefined);
    return this.workspaceRevision;
  }

  #perform(request: DeviceRequest): Done {
    switch (request.phase) {
      case "read":
        return { result: { ...this.layout() } };
      case "resolve":
        return this.#resolve(request);
      case "apply":
      case "reserve":
        return this.#begin(request);
      case "finalize":
        return this.#finalize(request);
      case "compensate":
        this.#reservations.drop(reservationIdOf(request));
        return { result: {} };
      default:
        throw invalidArgument("unknown phase");
    }
  }

  #resolve({ args }: DeviceRequest): Done {
    const { target, tab } = checked(RESOLVED, args, "args");
    const { tab: found, leaf } = findPane(this.#saved, target, tab);
    const { kind } = leaf.content;
    return { result: { tabId: found.id, paneId: leaf.id, kind, contentRef: contentRefOf(leaf.content) } };
  }

  /** A request that was done already gets its result before the revision, which has advanced since, is checked. */
  #begin({ command, args: given, callerDeviceId, expectedRevision, idempotencyKey, phase }: DeviceRequest): Done {
    if (!Object.hasOwn(RPC_ARGS, command) || !isMutation(command)) {
      throw invalidArgument(`${JSON.stringify(command.slice(0, 80))} is not a command that changes the layout`);
    }
    const args = parseArgs(command, given);
    if (idempotencyKey === undefined && needsKey(command)) throw invalidArgument(`${command} needs an idempotencyKey`);
    const key = idempotencyKey ?? this.#options.newId();
    const asked = { caller: callerDeviceId, key, asked: JSON.stringify([command, args]) };
    const before = memoryOf(this.#saved.requests, this.#options.nowUnixMs()).find([callerDeviceId, key]);
    if (before !== undefined) {
      requireSameRequest(before.request, asked.asked);
      const { result, appliedRevision } = before.result;
      return { result, appliedRevision };
    }
    const isReserving = phase === "reserve";
    if (isReserving !== hasProcess(command as LayoutMutation, args)) {
      throw invalidArgument(
        isReserving
          ? `${command} starts no process, so there is nothing to reserve`
          : `${command} must be sent in phases`,
      );
    }
    const reserved = isReserving ? this.#reservations.of(asked) : undefined;
    if (reserved !== undefined) return { result: reserved.result };
    this.#requireRevision(expectedRevision);
    return isReserving
      ? this.#reserve(command as LayoutMutation, args, asked)
      : this.#apply(command as LayoutMutation, args, idempotencyKey === undefined ? undefined : asked);
  }

  #requireRevision(expected: number | undefined): void {
    if (expected === undefined) throw invalidArgument("a layout change needs an expectedRevision");
    const currentRevision = this.workspaceRevision;
    if (expected === currentRevision) return;
    throw new AppError(
      "REVISION_CONFLICT",
      `the layout is at revision ${currentRevision}, not ${expected}: read it again`,
      { details: { currentRevision, expectedRevision: expected } },
    );
  }

  #apply(command: LayoutMutation, args: unknown, asked: AskedWithKey | undefined): Done {
    const context = this.#context(this.#newIds());
    // It must also fit together with the reservations.
    if (this.#reservations.all.length > 0) mutate(this.#expected(), command, args, context);
    const { layout, result } = mutate(this.#saved, command, args, context);
    return this.#commit(layout, { ...result }, asked);
  }

  /** Tries it on the layout as it is, and with all earlier reservations applied: they may be finalized or not. */
  #reserve(command: LayoutMutation, args: unknown, asked: AskedWithKey): Done {
    const ids = this.#newIds();
    const found = command === "new-tab" ? undefined : this.#targetOf(command, args);
    const fixed = found === undefined ? args : withFixedPane(command, args, found.leaf.id);
    const context = this.#context(ids, TO_COME);
    mutate(this.#saved, command, fixed, context);
    const { result } = mutate(this.#expected(), command, fixed, context);
    const id = this.#options.newId();
    const contentRef = found === undefined ? null : contentRefOf(found.leaf.content);
    const reserved = {
      reservationId: id,
      tabId: result.tabId,
      paneId: result.paneId,
      // The present content, which is what `respawn-pane` restarts.
      ...(contentRef === null || command === "split-pane" ? {} : { contentRef }),
    };
    this.#reservations.add({ id, command, args: fixed, ids, asked, result: reserved });
    return { result: reserved };
  }

  #targetOf(command: LayoutMutation, args: unknown): FoundPane {
    const { target, to, tab } = args as Readonly<Record<string, string | undefined>>;
    return findPane(this.#saved, command === "attach-terminal" ? to : target, tab);
  }

  #finalize(request: DeviceRequest): Done {
    const contentRef = checked(contentRefSchema, request.args["contentRef"], "args.contentRef");
    const { command, args, ids, asked } = this.#reservations.take(reservationIdOf(request));
    const { layout, result } = mutate(this.#saved, command, args, this.#context(ids, contentRef));
    return this.#commit(layout, { ...result, ...("terminalId" in contentRef ? contentRef : {}) }, asked);
  }

  /** The layout with all reservations applied; one that no longer can be is left out. */
  #expected(): LayoutSnapshot {
    return this.#reservations.all.reduce<LayoutSnapshot>((layout, { command, args, ids }) => {
      try {
        return mutate(layout, command, args, this.#context(ids, TO_COME)).layout;
      } catch {
        return layout;
      }
    }, this.#saved);
  }

  #commit(layout: LayoutSnapshot, result: Done["result"], asked: AskedWithKey | undefined): Done {
    const nowUnixMs = this.#options.nowUnixMs();
    const appliedRevision = this.workspaceRevision + 1;
    const requests = memoryOf(this.#saved.requests, nowUnixMs);
    if (asked !== undefined) {
      const done = { ...asked, atUnixMs: nowUnixMs, appliedRevision, result };
      requests.complete([asked.caller, asked.key], asked.asked, done);
    }
    const next: SavedDevice = {
      ...this.#saved,
      ...layout,
      workspaceRevision: appliedRevision,
      updatedAt: nowUnixMs,
      requests: [...requests.entries()].map(({ result: one }) => one),
    };
    const published = layoutOf(next, nowUnixMs);
    requireWithin("snapshotBytes", utf8Length(JSON.stringify(published.snapshot)), "the layout in bytes");
    this.#save(next);
    this.#saved = next;
    this.#options.onChange?.(published);
    return { result, appliedRevision };
  }

  #save(next: SavedDevice): void {
    try {
      this.#options.store.save(next);
    } catch (cause) {
      throw new AppError("INTERNAL_ERROR", "the layout could not be saved; nothing was changed", {
        details: { cause: "storage" },
        cause,
      });
    }
  }

  #newIds(): NewIds {
    const { newId } = this.#options;
    return { tabId: newId(), paneId: newId(), splitId: newId() };
  }

  #context(ids: NewIds, contentRef?: MutationContext["contentRef"]): MutationContext {
    const { deviceId: ownerDeviceId, nowUnixMs } = this.#options;
    return { ...ids, ownerDeviceId, nowUnixMs: nowUnixMs(), contentRef };
  }

  #faultOf(thrown: unknown): RpcFault {
    const error = toAppError(thrown);
    const { message, ...rest } = faultOf(error);
    return {
      ...rest,
      message: message.slice(0, MAX_MESSAGE_CHARS),
      stage: "owner",
      ...(error.code === "REVISION_CONFLICT" ? { currentRevision: this.workspaceRevision } : {}),
    };
  }
}

/**
 * What was saved and is not a layout is moved aside by `moveAside`, and a new layout begins.
 * @throws AppError INTERNAL_ERROR; what the store and `moveAside` throw
 */
export function openDevice(options: DeviceOptions, moveAside: () => void): DeviceRuntime {
  try {
    return new DeviceRuntime(options);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
    moveAside();
    return new DeviceRuntime(options);
  }
}

/** For any command: which pane it is about. */
const RESOLVED = v.object({ target: v.optional(v.string()), tab: v.optional(v.string()) });

function hasProcess(command: LayoutMutation, args: unknown): boolean {
  if (command === "attach-terminal" || command === "respawn-pane") return true;
  return (command === "new-tab" || command === "split-pane") && hasTerminal(args as RpcArgs<"new-tab">);
}

/** The same with the pane by its id: its selector may mean another pane by the time of `finalize`. */
function withFixedPane(command: LayoutMutation, args: unknown, paneId: string): unknown {
  const { tab: _tab, ...rest } = args as Readonly<Record<string, unknown>>;
  return { ...rest, [command === "attach-terminal" ? "to" : "target"]: `pane:${paneId}` };
}

function reservationIdOf({ args, reservationId }: DeviceRequest): string {
  const given = args["reservationId"] ?? reservationId;
  if (typeof given === "string") return given;
  throw invalidArgument("the reservationId is missing");
}

/** A device's layout as others read it: its tree, and for each pane the fields of listings (seed 002 §11.1). */
function layoutOf(saved: SavedDevice, capturedAt: number): OwnerLayout {
  const { ownerDeviceId, workspaceRevision, updatedAt, requests: _requests, ...layout } = saved;
  const panes = saved.tabs.flatMap((tab) => leavesIn(saved, tab.id).map((leaf) => paneOf(leaf, tab)));
  return { ownerDeviceId, workspaceRevision, updatedAt, capturedAt, snapshot: { ...layout, panes } };
}

function paneOf(leaf: LayoutLeaf, { id: tabId, ownerDeviceId, updatedAt: tabUpdatedAt }: LayoutTab): LayoutPane {
  const { type: _type, content, status, updatedAt, ...further } = leaf;
  return {
    ...further,
    tabId,
    ownerDeviceId,
    kind: content.kind,
    status: typeof status === "string" ? status : "running",
    contentRef: contentRefOf(content),
    ...(content.kind === "browser" ? { url: content.url } : {}),
    ...(content.kind === "editor" ? { filePath: content.filePath } : {}),
    updatedAt: typeof updatedAt === "number" ? updatedAt : tabUpdatedAt,
  };
}

const MAX_RESERVATIONS = 64;

interface Reservation {
  readonly id: string;
  readonly command: LayoutMutation;
  /** The pane is given by its id. */
  readonly args: unknown;
  readonly ids: NewIds;
  readonly asked: AskedWithKey;
  /** What the owner returns. */
  readonly result: Readonly<Record<string, unknown>>;
}

/**
 * Places reserved for panes whose process is being started; the layout does not show them. A reservation that nobody
 * finalizes expires, and none outlives this process.
 */
class Reservations {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #kept = new Map<string, { readonly reservation: Reservation; readonly untilMs: number }>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Those that are valid, the oldest first. */
  get all(): readonly Reservation[] {
    this.#forgetOld();
    return [...this.#kept.values()].map(({ reservation }) => reservation);
  }

  /** The one of a caller that asks again. @throws AppError ALREADY_EXISTS */
  of({ caller, key, asked }: AskedWithKey): Reservation | undefined {
    const found = this.all.find((one) => one.asked.caller === caller && one.asked.key === key);
    if (found === undefined) return undefined;
    requireSameRequest(found.asked.asked, asked);
    this.#keep(found);
    return found;
  }

  /** @throws AppError RESOURCE_LIMIT */
  add(reservation: Reservation): void {
    if (this.all.length >= MAX_RESERVATIONS) {
      throw new AppError("RESOURCE_LIMIT", `${MAX_RESERVATIONS} panes are being created: try again when one is done`, {
        details: { limit: "reservations", max: MAX_RESERVATIONS },
      });
    }
    this.#keep(reservation);
  }

  /** Ends the reservation. @throws AppError NOT_FOUND */
  take(id: string): Reservation {
    this.#forgetOld();
    const found = this.#kept.get(id);
    this.#kept.delete(id);
    if (found !== undefined) return found.reservation;
    throw new AppError("NOT_FOUND", "the reservation does not exist or has expired: reserve again", {
      details: { reason: "reservation" },
    });
  }

  drop(id: string): void {
    this.#kept.delete(id);
  }

  #keep(reservation: Reservation): void {
    this.#kept.delete(reservation.id);
    this.#kept.set(reservation.id, { reservation, untilMs: this.#clock.nowMs() + RESERVATION_KEPT_MS });
  }

  #forgetOld(): void {
    const nowMs = this.#clock.nowMs();
    for (const [id, { untilMs }] of this.#kept) {
      if (untilMs > nowMs) break;
      this.#kept.delete(id);
    }
  }
}
