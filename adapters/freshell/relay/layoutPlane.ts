/** The parts behind devices and their layouts: presence, the relay, the audit, and what is kept on disk. */
import { join } from "node:path";
import type { PresenceMessage } from "../../../protocol/api/freshell/rpc.ts";
import { type LayoutSnapshot, leavesOf } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { FreshellConfig } from "../freshellConfig.ts";
import type { FreshellContext } from "../freshellContext.ts";
import { AuditLog } from "./auditLog.ts";
import { DeviceFolder } from "./deviceFolder.ts";
import { LayoutRelay } from "./layoutRelay.ts";
import { Presence } from "./presence.ts";
import { RemoteControl } from "./remoteControl.ts";
import { ResultMemory } from "./resultMemory.ts";

export interface LayoutPlane {
  readonly presence: Presence;
  readonly relay: LayoutRelay;
  /** Reports devices that come and go. Returns the function that stops it. */
  watch(listener: (message: PresenceMessage) => void): () => void;
  /** A device has published its layout: the terminals in it are placed. */
  shown(snapshot: LayoutSnapshot): void;
  /** Other devices whose layout this one may change now. */
  remoteTargets(deviceId: string): readonly string[];
  /** Counts an unrequested frame of an owner. */
  ignore(): void;
  ignoredCount(): number;
  /** Writes what is pending. */
  close(): Promise<void>;
}

export type LayoutPlaneOptions = Pick<
  FreshellContext,
  "book" | "server" | "sessions" | "waits" | "clock" | "nowUnixMs" | "log"
> & {
  readonly config: Pick<FreshellConfig, "homePath" | "resultsPath">;
};

export function createLayoutPlane(options: LayoutPlaneOptions): LayoutPlane {
  const { config, book, server, sessions, waits, clock, nowUnixMs, log } = options;
  const { homePath, resultsPath } = config;
  const listeners = new Set<(message: PresenceMessage) => void>();
  const folder = new DeviceFolder({ path: join(homePath, "devices"), clock, log });
  const tell = (message: PresenceMessage): void => {
    for (const listener of listeners) listener(message);
  };
  const presence = new Presence({ folder, nowUnixMs, tell });
  const audit = new AuditLog({ folder: join(homePath, "audit"), nowUnixMs, clock, log });
  const results = new ResultMemory({ path: resultsPath, nowUnixMs, clock, log });
  const remoteControl = new RemoteControl({ path: join(homePath, "remote-control.json"), log });
  const relay = new LayoutRelay({
    presence,
    remoteControl,
    results,
    audit,
    context: { book, server, sessions, waits },
  });
  let ignored = 0;
  return {
    presence,
    relay,
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    shown: (snapshot) => {
      const orphans = book.list().filter(({ place }) => place === "orphan");
      if (orphans.length === 0) return;
      const contents = Object.values(snapshot.layouts).flatMap((tree) => leavesOf(tree).map(({ content }) => content));
      const ids = new Set(contents.map((content) => (content.kind === "terminal" ? content.terminalId : undefined)));
      for (const orphan of orphans) if (ids.has(orphan.id)) book.placed(orphan, true);
    },
    remoteTargets: (deviceId) => remoteControl.targetsOf(deviceId, presence.all()),
    ignore: () => {
      ignored += 1;
    },
    ignoredCount: () => ignored,
    close: async () => {
      await folder.settle();
      audit.close();
      results.close();
    },
  };
}
