/**
 * Device sessions outlive the daemon: digests of their tokens in a file of ours, written atomically. Another bootstrap token
 * invalidates them. An unreadable file counts as none: devices log in again.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { parse } from "../../../protocol/api/parse.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { replacePrivate } from "../../../daemon/ops/privateFiles.ts";

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const sessionSchema = v.object({
  deviceId: v.string(),
  scopes: v.array(v.string()),
  device: digest,
  refresh: digest,
  expiresAt: v.number(),
  refreshUntil: v.number(),
});
const fileSchema = v.object({ version: v.literal(1), bootstrap: digest, sessions: v.array(sessionSchema) });

export type StoredSession = v.InferOutput<typeof sessionSchema>;

export interface SessionStore {
  read(): readonly StoredSession[];
  write(sessions: readonly StoredSession[]): void;
}

interface SessionFileOptions {
  readonly path: string;
  /** The bootstrap token. */
  readonly token: string;
  readonly log: Log;
}

export function sessionFile({ path, token, log }: SessionFileOptions): SessionStore {
  // Salted, so that it is not the digest of the token itself.
  const bootstrap = createHash("sha256").update(`freshell sessions of ${token}`).digest("hex");
  return {
    read: () => {
      try {
        const stored = parse(fileSchema, JSON.parse(readFileSync(path, "utf8")));
        return stored.bootstrap === bootstrap ? stored.sessions : [];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") log.warn("freshell.sessions.unreadable", { path });
        return [];
      }
    },
    write: (sessions) => {
      try {
        replacePrivate(path, JSON.stringify({ version: 1, bootstrap, sessions }));
      } catch (error) {
        // They remain valid until this daemon ends.
        log.error("freshell.sessions.unwritten", { path, error });
      }
    },
  };
}
