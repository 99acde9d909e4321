/** The parts behind devices and their layouts: presence, the relay, the audit, and what is kept on disk. */
import { join } from "node:path";
import type { Log } from "../../../daemon/ops/log.ts";
import { Once } from "../../../daemon/ops/once.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { type LayoutSnapshot, leavesOf } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { FreshellConfig } from "../freshellConfig.ts";
import type { HybridContext } from "./hybrids.ts";
import { AuditLog } from "./auditLog.ts";
import { DeviceFolder } from "./deviceFolder.ts";
import { LayoutRelay } from "./layoutRelay.ts";
import { Presence } from "./presence.ts";
import { RemoteControl } from "./remoteControl.ts";
import { ResultFile } from "./resultFile.ts";

interface LayoutPlaneOptions extends HybridContext {
  readonly config: Pick<FreshellConfig, "homePath" | "resultsPath">;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
}

export class LayoutPlane {
  readonly presence: Presence;
  readonly relay: LayoutRelay;
  readonly #book: HybridContext["book"];
  readonly #folder: DeviceFolder;
  readonly #audit: AuditLog;
  readonly #results: ResultFile;
  readonly #remoteControl: RemoteControl;

  constructor({ config, book, server, sessions, waits, clock, nowUnixMs, log }: LayoutPlaneOptions) {
    const { homePath, resultsPath } = config;
    this.#book = book;
    this.#folder = new DeviceFolder({ path: join(homePath, "devices"), clock, log });
    this.presence = new Presence({ folder: this.#folder, nowUnixMs });
    this.#audit = new AuditLog({ folder: join(homePath, "audit"), nowUnixMs, clock, log });
    this.#results = new ResultFile({ path: resultsPath, nowUnixMs, clock, log });
    this.#remoteControl = new RemoteControl({ path: join(homePath, "remote-control.json"), log });
    this.relay = new LayoutRelay({
      presence: this.presence,
      remoteControl: this.#remoteControl,
      results: new Once({ store: this.#results }),
      audit: this.#audit,
      context: { book, server, sessions, waits },
    });
  }

  /** A device has published its layout: the terminals in it are placed. */
  shown(snapshot: LayoutSnapshot): void {
    const orphans = this.#book.list().filter(({ place }) => place === "orphan");
    if (orphans.length === 0) return;
    const contents = Object.values(snapshot.layouts).flatMap((tree) => leavesOf(tree).map(({ content }) => content));
    const ids = new Set(contents.map((content) => (content.kind === "terminal" ? content.terminalId : undefined)));
    for (const orphan of orphans) if (ids.has(orphan.id)) this.#book.placed(orphan, true);
  }

  /** Other devices whose layout this one may change now. */
  remoteTargets(deviceId: string): readonly string[] {
    return this.#remoteControl.targetsOf(deviceId, this.presence.all());
  }

  /** Writes what is pending. */
  async close(): Promise<void> {
    await this.#folder.settle();
    this.#audit.close();
    this.#results.close();
  }
}
