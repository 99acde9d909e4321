/**
 * Finds programs of an owned server that have ended: a hook, a closed terminal or the heartbeat prompts a listing of dead
 * panes. tmux may not know yet how a program ended; then it is made to check (`ExitSettler`).
 */
import { listPanesWhere, startProgram } from "../../../protocol/command/build.ts";
import { DEAD_PANES, type PaneRow } from "../../../protocol/command/formats.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { Host } from "../../host/host.ts";
import { AskOnce } from "../../time/askOnce.ts";
import type { Clock } from "../../time/clock.ts";
import { ExitSettler } from "../exitSettler.ts";
import type { Inventory } from "../serverInventory.ts";
import { TtyWatch } from "../ttyWatch.ts";

interface DeathWatchOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly inventory: Inventory;
  /** Undefined while there is none: nothing is listed then. */
  readonly connection: () => ControlConnection | undefined;
  readonly serverPid: () => number | undefined;
  /** How the pane's program ended is known now, but not to the inventory. */
  readonly onSettled: (pane: PaneId) => void;
  readonly onError: (error: unknown) => void;
}

export class DeathWatch {
  readonly #options: DeathWatchOptions;
  readonly #dead: AskOnce;
  readonly #settler: ExitSettler;
  readonly #ttys: TtyWatch;

  constructor(options: DeathWatchOptions) {
    const { host, clock, connection, serverPid, onError } = options;
    this.#options = options;
    this.#dead = new AskOnce(() => this.#list(), onError);
    this.#settler = new ExitSettler({
      clock,
      processes: host.processes,
      serverPid: () => (connection() === undefined ? undefined : serverPid()),
      startProgram: () => connection()?.send(startProgram(), "none", () => undefined),
      probe: () => this.#dead.soon(),
    });
    // The hook depends on the signal that tmux can miss, and can get lost itself; a closed terminal cannot.
    this.#ttys = new TtyWatch({
      clock,
      terminals: host.terminals,
      onlyGone: true,
      probe: () => {
        if (connection() !== undefined) this.#settler.probe();
      },
    });
  }

  /** A program may have ended. */
  probe(): void {
    this.#settler.probe();
  }

  /** Periodic, for deaths that nothing has reported. */
  beat(): void {
    this.#dead.soon();
  }

  /** A listing of panes has arrived. */
  listed(rows: readonly PaneRow[]): void {
    const unsettled = rows.filter((row) => row.dead && this.#options.inventory.exitOf(row) === undefined);
    if (unsettled.length > 0) this.#settler.found(unsettled.length);
  }

  /** The connection has gone. */
  clear(): void {
    this.#settler.clear();
  }

  close(): void {
    this.#ttys.close();
    this.#settler.clear();
  }

  async #list(): Promise<void> {
    const { inventory, connection, onSettled } = this.#options;
    const panes = await connection()?.rows(DEAD_PANES, (format) => listPanesWhere("#{pane_dead}", format));
    if (panes === undefined) return;
    const settled = panes.filter((pane) => inventory.exitOf(pane) !== undefined);
    for (const { pane } of settled) if (inventory.findPane(pane)?.exit === undefined) onSettled(pane);
    this.#settler.found(panes.length - settled.length);
  }
}
