/**
 * Finds programs of an owned server that have ended, and panes that somebody respawned, which tmux does not report: a hook, a
 * terminal that appears or disappears, or the heartbeat triggers a listing. tmux may not know yet how a program ended; then
 * it is made to check (`ExitSettler`).
 */
import { listAllPanes, startProgram } from "../../../protocol/command/build.ts";
import { type PaneRow, PROGRAMS } from "../../../protocol/command/formats.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { Closable, Host } from "../../host/host.ts";
import { SingleFlight } from "../../time/singleFlight.ts";
import type { Clock } from "../../time/clock.ts";
import { ExitSettler } from "../exitSettler.ts";
import type { InventoryStore } from "../inventory/inventoryStore.ts";
import { watchTtys } from "../ttyWatch.ts";

interface DeathWatchOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly inventory: InventoryStore;
  /** Undefined while there is none; nothing is listed then. */
  readonly connection: () => ControlConnection | undefined;
  readonly serverPid: () => number | undefined;
  /** Called when a listing shows how a pane's program ended, or that another one runs, which the inventory does not know. */
  readonly onChanged: (pane: PaneId) => void;
  readonly onError: (error: unknown) => void;
}

export class DeathWatch {
  readonly #options: DeathWatchOptions;
  readonly #dead: SingleFlight;
  /** To be probed when a program may have ended, and cleared when the connection is gone. */
  readonly settler: ExitSettler;
  readonly #ttys: Closable | undefined;

  constructor(options: DeathWatchOptions) {
    const { host, clock, connection, serverPid, onError } = options;
    this.#options = options;
    this.#dead = new SingleFlight(() => this.#list(), onError);
    this.settler = new ExitSettler({
      clock,
      processes: host.processes,
      serverPid: () => (connection() === undefined ? undefined : serverPid()),
      startProgram: () => connection()?.send(startProgram(), "none", () => undefined),
      probe: () => this.#dead.soon(),
    });
    // The hook depends on SIGCHLD, which tmux can miss, and can get lost itself; the closing of a terminal cannot.
    this.#ttys = watchTtys({
      clock,
      terminals: host.terminals,
      // A new terminal belongs to a new pane, which tmux reports, or to a dead pane that was respawned.
      isReason: (what) => what === "gone" || options.inventory.panes().some(({ exit }) => exit !== undefined),
      probe: () => {
        if (connection() !== undefined) this.settler.probe();
      },
    });
  }

  /** Call with each heartbeat, for deaths that nothing has reported. */
  heartbeat(): void {
    this.#dead.soon();
  }

  /** Call when a listing of panes has arrived. */
  listed(rows: readonly PaneRow[]): void {
    const unsettled = rows.filter((row) => row.dead && this.#options.inventory.exitOf(row) === undefined);
    if (unsettled.length > 0) this.settler.found(unsettled.length);
  }

  close(): void {
    this.#ttys?.close();
    this.settler.clear();
  }

  async #list(): Promise<void> {
    const { inventory, connection, onChanged } = this.#options;
    const rows = await connection()?.rows(PROGRAMS, listAllPanes);
    if (rows === undefined) return;
    const unsettled = new Set<PaneId>();
    for (const { pane, pid, dead, deadStatus, deadSignal } of rows) {
      const known = inventory.findPane(pane);
      // From 3.8 on, tmux forgets the pid of a dead pane.
      const process = pid ?? known?.pid ?? 0;
      const isSettled = !dead || inventory.exitOf({ pid: process, deadStatus, deadSignal }) !== undefined;
      if (!isSettled) unsettled.add(pane);
      else if (known === undefined ? dead : known.pid !== process || dead !== (known.exit !== undefined))
        onChanged(pane);
    }
    this.settler.found(unsettled.size);
  }
}
