/**
 * Decides which users of this machine may use a listener without a token: the daemon's own user, root, and those
 * configured. Each connection is looked up once; an unknown user is refused, with the setting that changes that.
 */
import type { Socket } from "node:net";
import type { AllowedUids } from "../../../daemon/ops/daemonConfig.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { AppError } from "../../../protocol/errors.ts";
import { PeerTable } from "./peerTable.ts";

interface PeerUsersOptions {
  readonly allowUids: AllowedUids;
  /** The setting of the listener's token, which messages name as the alternative. */
  readonly tokenSetting: string;
  readonly log: Log;
  readonly table?: PeerTable | undefined;
}

type Verdict = AppError | "admitted";

/** Users that are refused are logged once each, and no more of them: one person may have thousands of uids. */
const MAX_REPORTED = 16;

export class PeerUsers {
  readonly #options: PeerUsersOptions;
  readonly #table: PeerTable;
  readonly #verdicts = new WeakMap<object, Verdict | Promise<Verdict>>();
  readonly #reported = new Set<number | undefined>();

  constructor(options: PeerUsersOptions) {
    this.#options = options;
    this.#table = options.table ?? machineTable;
  }

  /** Returns a promise only until the connection has been looked up. @throws AppError FORBIDDEN */
  require(socket: Socket | undefined): Promise<void> | undefined {
    if (this.#options.allowUids === "any") return undefined;
    if (socket === undefined) throw this.#unknown();
    const known = this.#verdicts.get(socket);
    if (known === "admitted") return undefined;
    if (known instanceof AppError) throw known;
    return this.#await(known ?? this.#lookUp(socket));
  }

  async #await(pending: Promise<Verdict>): Promise<void> {
    const verdict = await pending;
    if (verdict !== "admitted") throw verdict;
  }

  #lookUp(socket: Socket): Promise<Verdict> {
    const pending = this.#table.uidOf(socket).then((uid) => {
      // The ends of a connection that was reset may be another user's by now.
      const verdict = this.#judge(socket.destroyed ? undefined : uid);
      this.#verdicts.set(socket, verdict);
      return verdict;
    });
    this.#verdicts.set(socket, pending);
    return pending;
  }

  #judge(uid: number | undefined): Verdict {
    const { allowUids, log, tokenSetting } = this.#options;
    if (uid !== undefined && (isOwnOrRoot(uid) || allowUids === "any" || allowUids.has(uid))) return "admitted";
    if (!this.#reported.has(uid) && this.#reported.size < MAX_REPORTED) {
      this.#reported.add(uid);
      log.warn("http.peer.refused", { uid: uid ?? "unknown" });
    }
    if (uid === undefined) return this.#unknown();
    return new AppError(
      "FORBIDDEN",
      `user ${uid} may not connect: allow that user with ${ALLOW_SETTING}, or set a token with ${tokenSetting}`,
      { details: { reason: "peer_not_allowed", uid, setting: ALLOW_SETTING, close: true } },
    );
  }

  #unknown(): AppError {
    return new AppError(
      "FORBIDDEN",
      `cannot determine the user of this connection: set a token with ${this.#options.tokenSetting}`,
      { details: { reason: "peer_unknown", setting: this.#options.tokenSetting, close: true } },
    );
  }
}

/** The flag and the variable, as messages name them. */
const ALLOW_SETTING = "--allow-uids or TMUXWIRE_ALLOW_UIDS";

/** Shared by all listeners of this process, so that they share reads. */
export const machineTable = new PeerTable();

export const isOwnOrRoot = (uid: number): boolean => uid === 0 || uid === process.getuid?.();

/**
 * Why a listener without a token would refuse every connection on this system, and what to do; undefined if it would not.
 * @param table of this machine
 */
export function peersUnknowable(
  listener: Pick<PeerUsersOptions, "allowUids" | "tokenSetting"> & { readonly token: string | undefined },
  table: Pick<PeerTable, "isReadable"> = machineTable,
): string | undefined {
  const { allowUids, token, tokenSetting } = listener;
  if (token !== undefined || allowUids === "any" || table.isReadable) return undefined;
  return (
    "this system does not report which user a connection comes from: " +
    `set a token with ${tokenSetting}, or allow every user of this machine with --allow-uids any`
  );
}
