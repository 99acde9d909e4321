/**
 * The leader of a profile's pages is the device: it holds the layout, responds to the server, carries out requests from all pages of the
 * profile, and sends them the view.
 */
import type { DeviceRuntime } from "../../devices/deviceRuntime.ts";
import type { LayoutSnapshot, OwnerLayout } from "../../../../protocol/api/freshell/deviceLayout.ts";
import { faultOf, OPERATION_ERROR_CODES } from "../../../../protocol/api/freshell/freshellErrors.ts";
import type { OwnerRequest, RpcOutcome } from "../../../../protocol/api/freshell/rpc.ts";
import { hasTerminal, isMutation, type RpcCommand } from "../../../../protocol/api/freshell/rpcCommands.ts";
import { AppError, invalidArgument, toAppError } from "../../../../protocol/errors.ts";
import { Refused } from "../../../pages/askServer.ts";
import { failed } from "../../devices/ownerMessages.ts";
import { withPaneTitle, withSplitAt } from "../model/ownChanges.ts";
import { type RemoteLine, whatWasDone } from "../model/remoteLine.ts";
import { type LayoutStep, reverted } from "../model/revertLayout.ts";
import type { DeviceAsk, DeviceView } from "./profilePages.ts";

interface LeaderOptions {
  readonly deviceId: string;
  readonly runtime: DeviceRuntime;
  readonly allow: readonly string[];
  readonly notes: readonly string[];
  /** Through the server: requests that need a process. Never rejects. */
  readonly request: (frame: Readonly<Record<string, unknown>>) => Promise<RpcOutcome>;
  /** The id of a new terminal. @throws Refused */
  readonly createTerminal: (options: object) => Promise<string>;
  readonly labelOf: (deviceId: string) => string;
  readonly nowUnixMs: () => number;
  readonly newId: () => string;
  /** To store it, and report it to the server. */
  readonly onAllow: (allow: readonly string[]) => void;
  readonly onView: (view: DeviceView) => void;
}

/** Lines that are shown and can be undone. */
const MAX_LINES = 50;
const TRIES = 3;

interface KeptLine extends RemoteLine {
  readonly step: LayoutStep;
}

export class LeaderPage {
  readonly #options: LeaderOptions;
  #lines: readonly KeptLine[] = [];
  #allow: readonly string[];
  #notes: readonly string[];

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#allow = options.allow;
    this.#notes = options.notes;
  }

  get layout(): OwnerLayout {
    return this.#options.runtime.layout();
  }

  get allow(): readonly string[] {
    return this.#allow;
  }

  get view(): DeviceView {
    const lines = this.#lines.map(({ step: _step, ...line }) => line);
    return { layout: this.layout, lines, allow: this.#allow, notes: this.#notes };
  }

  /** A caller's request, relayed by the server. */
  respond(request: OwnerRequest): RpcOutcome {
    const { runtime, deviceId } = this.#options;
    const [before, revision] = [runtime.layout().snapshot, runtime.workspaceRevision];
    const outcome = runtime.respond(request);
    const isDone = outcome.ok && runtime.workspaceRevision === revision + 1;
    if (isDone && request.callerDeviceId !== deviceId) this.#note(request, outcome.result, before);
    return outcome;
  }

  /** A person's request. Never rejects. */
  async perform(ask: DeviceAsk): Promise<RpcOutcome> {
    try {
      return await this.#perform(ask);
    } catch (thrown) {
      if (thrown instanceof Refused) {
        return failed(
          thrown.message,
          OPERATION_ERROR_CODES.find((code) => code === thrown.code),
        );
      }
      return { ok: false, error: faultOf(toAppError(thrown)) };
    }
  }

  /** Publishes the view again. */
  show(): void {
    this.#options.onView(this.view);
  }

  #perform(ask: DeviceAsk): RpcOutcome | Promise<RpcOutcome> {
    const { runtime, onAllow } = this.#options;
    switch (ask.kind) {
      case "command":
        return this.#command(ask.command, ask.args);
      case "terminal":
        return this.#terminal(ask.paneId, ask.options);
      case "session":
        return this.#session(ask);
      case "split":
        return done(runtime.change((layout) => withSplitAt(layout, ask.splitId, ask.percent)));
      case "paneTitle":
        return done(runtime.change((layout) => withPaneTitle(layout, ask.paneId, ask.title)));
      case "undo":
        return this.#undo(ask.lineId);
      case "allow":
        onAllow(ask.allow);
        this.#allow = ask.allow;
        this.show();
        return { ok: true, result: {} };
    }
  }

  #command(command: RpcCommand, args: Readonly<Record<string, unknown>>): RpcOutcome | Promise<RpcOutcome> {
    if (!isMutation(command)) throw invalidArgument(`${command} is not a command that changes the layout`);
    const isOfServer = command === "respawn-pane" || command === "attach-terminal";
    const isNew = command === "new-tab" || command === "split-pane";
    if (isOfServer || (isNew && hasTerminal(args))) return this.#throughServer(command, args);
    return this.#apply(command, args, "apply");
  }

  #apply(
    command: RpcCommand,
    args: Readonly<Record<string, unknown>>,
    phase: "apply" | "reserve" | "finalize",
  ): RpcOutcome {
    const { runtime, deviceId, newId } = this.#options;
    return runtime.respond({
      command,
      args,
      callerDeviceId: deviceId,
      expectedRevision: runtime.workspaceRevision,
      idempotencyKey: newId(),
      phase,
    });
  }

  /** The server makes the process; another device may change the layout meanwhile. */
  async #throughServer(command: RpcCommand, args: Readonly<Record<string, unknown>>): Promise<RpcOutcome> {
    const { deviceId, runtime, newId, request } = this.#options;
    const idempotencyKey = newId();
    for (let tries = 1; ; tries += 1) {
      // oxlint-disable-next-line no-await-in-loop -- each try is for the layout found by the previous one
      const outcome = await request({
        callerDeviceId: deviceId,
        targetDeviceId: deviceId,
        command,
        args,
        expectedRevision: runtime.workspaceRevision,
        idempotencyKey,
      });
      if (outcome.ok || outcome.error.code !== "REVISION_CONFLICT" || tries === TRIES) return outcome;
    }
  }

  async #terminal(paneId: string, options: object): Promise<RpcOutcome> {
    const { deviceId, createTerminal } = this.#options;
    const tabId = this.layout.snapshot.panes?.find(({ id }) => id === paneId)?.tabId;
    const terminalId = await createTerminal({
      ...options,
      ...(tabId === undefined ? {} : { pane: { deviceId, tabId, paneId } }),
    });
    return this.#throughServer("attach-terminal", { target: `terminal:${terminalId}`, to: `pane:${paneId}` });
  }

  /** The server has no part between the two steps. */
  #session({ paneId, provider, sessionId }: Extract<DeviceAsk, { kind: "session" }>): RpcOutcome {
    const place = this.#apply("attach-terminal", { target: "terminal:none", to: `pane:${paneId}` }, "reserve");
    if (!place.ok) return place;
    const { reservationId } = place.result;
    return this.#apply(
      "attach-terminal",
      { reservationId, contentRef: { sessionRef: { provider, sessionId } } },
      "finalize",
    );
  }

  #undo(lineId: string): RpcOutcome {
    const line = this.#lines.find(({ id }) => id === lineId);
    if (line === undefined || !line.canUndo) throw new AppError("NOT_FOUND", "there is nothing to undo");
    const { runtime } = this.#options;
    const back = reverted(plain(this.layout.snapshot), line.step);
    if (back === undefined) {
      this.#replace({ ...line, canUndo: false, note: "not undone: it has been changed since" });
      throw new AppError("INVALID_TARGET", "it cannot be undone: it has been changed since");
    }
    this.#replace({ ...line, canUndo: false, note: "undone" });
    return done(runtime.change(() => back));
  }

  #note(
    { command, args, callerDeviceId }: OwnerRequest,
    result: Readonly<Record<string, unknown>>,
    was: LayoutSnapshot,
  ): void {
    const { labelOf, nowUnixMs, newId } = this.#options;
    const [before, after] = [plain(was), plain(this.layout.snapshot)];
    const line: KeptLine = {
      id: newId(),
      who: labelOf(callerDeviceId),
      what: whatWasDone({ command, args, result, before, after }),
      atUnixMs: nowUnixMs(),
      canUndo: command !== "respawn-pane" && reverted(after, { before, after }) !== undefined,
      step: { before, after },
    };
    this.#lines = [...this.#lines, line].slice(-MAX_LINES);
    this.show();
  }

  #replace(line: KeptLine): void {
    this.#lines = this.#lines.map((one) => (one.id === line.id ? line : one));
    this.show();
  }
}

const done = (appliedRevision: number): RpcOutcome => ({ ok: true, result: {}, appliedRevision });

/** Without `panes`, which derive from the trees. */
function plain({ panes: _derived, ...layout }: LayoutSnapshot): LayoutSnapshot {
  return layout;
}
