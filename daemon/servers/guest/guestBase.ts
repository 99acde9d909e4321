/**
 * The one connection to a guest's server that is always there while the server is: commands and notifications, no output
 * unless its session is watched. It is attached to some session of the user's because a control client must be, and it
 * never stays where it was not going: moved by tmux (docs/tmuxFacts.md 32b) it leaves, and it does not outstay the last
 * person where the user's options end things then.
 */
import { setClientFlags, switchClient } from "../../../protocol/command/build.ts";
import type { ServerIdentity } from "../../../protocol/command/formats.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS, GUEST_CALM_WITH_FALLBACK_MS } from "../../../protocol/limits.ts";
import { ControlConnection, type ControlConnectionOptions } from "../../connection/controlConnection.ts";
import { createNonce } from "../../connection/framing.ts";
import { Supervisor } from "../../connection/supervisor.ts";
import { introduce } from "../../connection/tmuxFeatures.ts";
import { AskOnce } from "../../time/askOnce.ts";
import type { Clock } from "../../time/clock.ts";
import type { AttachGate } from "./attachGate.ts";
import { clientCheckup } from "../clientCheck.ts";
import { GuestReachability } from "./guestReachability.ts";
import { attachCommand, type GuestSpawn, guestSpawn } from "./guestProbe.ts";
import { removeAbandonedBuffers } from "./guestBuffers.ts";
import type { AttachChannel } from "./attachClient.ts";
import { endOrphans } from "../orphanedClients.ts";
import { chooseSession, decodePresence, mayAttach, type Presence, PRESENCE_COMMANDS } from "./guestPresence.ts";
import { isWaiting } from "../processState.ts";
import type { ServerState } from "../../tmux/inventory.ts";

interface GuestBaseOptions extends Pick<ControlConnectionOptions, "onOutput" | "onChunkEnd"> {
  readonly onNotification: (notification: Notification, connection: ControlConnection) => void;
  readonly spawn: GuestSpawn;
  readonly gate: AttachGate;
  readonly clock: Clock;
  readonly log: (event: string, fields: object) => void;
  readonly heartbeatMs?: number | undefined;
  readonly onState: (state: ServerState) => void;
  /** Somebody else can be asked meanwhile. */
  readonly hasFallback: () => boolean;
  /** Every few seconds while tmux answers. */
  readonly onBeat: () => void;
  /** Makes a fresh connection useful; what was known is void when the server is another one. */
  readonly prepare: (connection: ControlConnection, isSameServer: boolean) => Promise<void>;
  /** Output does not come over this connection any more: it is lost, or elsewhere. */
  readonly onLeft: (error: AppError) => void;
  /** There is no server, or no session in it. */
  readonly onGone: () => void;
  /** Who is attached where has been asked again. */
  readonly onPresence: (presence: Presence) => void;
}

export class GuestBase {
  readonly #options: GuestBaseOptions;
  readonly #supervisor: Supervisor;
  readonly #door: GuestReachability;
  #identity: ServerIdentity | undefined;
  #session: SessionId | undefined;
  /** The session that `switch-client` was asked for. */
  #destination: SessionId | undefined;
  #presence: Presence = [];
  #hadCompany = false;
  /** Attach clients whose output this connection carries. */
  readonly #loans = new Set<object>();
  /** The connection that told of the last change of who is there. */
  #noticedBy: ControlConnection | undefined;
  /** A failure is the connection's: the next one asks anew. */
  readonly #presenceAsked = new AskOnce(async () => {
    const connection = this.#noticedBy;
    if (connection === undefined) return;
    await this.#askPresence(connection);
    await this.#reconsider(connection);
  });
  #epoch = "";
  #retryCode = "";
  /** Tells the gate that the client which is being started has been answered. */
  #arrived: () => void = () => undefined;

  constructor(options: GuestBaseOptions) {
    this.#options = options;
    this.#door = new GuestReachability({
      spawn: options.spawn,
      clock: options.clock,
      onGone: () => {
        this.#identity = undefined;
        options.onGone();
      },
      onAppeared: () => this.#supervisor.retryNow(),
    });
    this.#supervisor = new Supervisor({
      clock: options.clock,
      open: () => this.#open(),
      prepare: (fresh) => this.#prepare(fresh),
      onState: (state) => options.onState(state),
      heartbeatMs: options.heartbeatMs,
      checkup: () => clientCheckup(() => [this.#session, this.#destination], this.#loans.size > 0),
      onBeat: () => options.onBeat(),
      isServerIdle: () => isWaiting(options.spawn.host.processes, this.#identity?.pid),
      onEvent: (event, details) => this.#log(event, details),
    });
  }

  get state(): ServerState {
    return this.#supervisor.state;
  }

  get epoch(): string {
    return this.#epoch;
  }

  get identity(): ServerIdentity | undefined {
    return this.#identity;
  }

  /** While it answers. */
  get serverPid(): number | undefined {
    return this.state === "ready" ? this.#identity?.pid : undefined;
  }

  get presence(): Presence {
    return this.#presence;
  }

  /** The session it is attached to, while it is. */
  get session(): SessionId | undefined {
    return this.state === "ready" ? this.#session : undefined;
  }

  /** Resolves when a server that runs has been listed, or none was found. */
  start(): Promise<void> {
    return this.#supervisor.startOrWait();
  }

  check(): Promise<void> {
    return this.#supervisor.check();
  }

  /** @throws AppError CONNECTION_LOST, and while there is no server, why: `details.reason`; TMUX_UNAVAILABLE without tmux */
  connection(): ControlConnection {
    const { absence } = this.#door;
    if (absence !== undefined && this.state === "connecting") throw absence;
    return this.#supervisor.connection();
  }

  /** Lets this connection carry its session's output until the channel is closed. @throws AppError CONNECTION_LOST */
  async borrow(): Promise<AttachChannel> {
    const connection = this.connection();
    const loan = {};
    this.#loans.add(loan);
    const close = (): void => {
      if (!this.#loans.delete(loan) || this.#loans.size > 0 || connection.closed) return;
      connection.send(setClientFlags("no-output"), "none", () => undefined);
    };
    try {
      await connection.command(setClientFlags("!no-output"), "none");
    } catch (error) {
      close();
      throw error;
    }
    return { connection, close };
  }

  /** Goes to another session if it is attached to this one and there is another. @throws AppError CONNECTION_LOST */
  async leaveSession(session: SessionId): Promise<void> {
    const other = chooseSession(this.#presence, session);
    if (this.session === session && other !== undefined) await this.#moveTo(this.connection(), other);
  }

  /** Safe to call twice. */
  close(): void {
    this.#door.close();
    this.#supervisor.close();
  }

  async #open(): Promise<ControlConnection> {
    const calmMs = this.#options.hasFallback() ? GUEST_CALM_WITH_FALLBACK_MS : undefined;
    this.#arrived = await this.#options.gate.enter(undefined, calmMs);
    try {
      return await this.#attach();
    } catch (error) {
      this.#arrived();
      throw error;
    }
  }

  async #attach(): Promise<ControlConnection> {
    const { spawn, gate } = this.#options;
    const session = chooseSession(await this.#door.look());
    if (session === undefined) {
      throw this.#door.refuse(
        new AppError("CONNECTION_LOST", "the tmux server has no session that we may join; make one there", {
          details: { reason: "tmux_no_session" },
        }),
      );
    }
    this.#session = session;
    this.#destination = undefined;
    this.#loans.clear();
    const connection: ControlConnection = new ControlConnection({
      open: spawn.open,
      spawn: guestSpawn(spawn, attachCommand(session, "no-output")),
      onOutput: this.#options.onOutput,
      onNotification: (notification) => this.#notified(connection, notification),
      onChunkEnd: () => {
        this.#supervisor.heard();
        this.#options.onChunkEnd();
      },
      onClosed: (error) => {
        gate.disturbed();
        this.#arrived();
        this.#options.onLeft(error);
        this.#door.lost(error, () => this.state === "connecting");
        this.#supervisor.lost(connection, error);
      },
    });
    return connection;
  }

  async #prepare(connection: ControlConnection): Promise<void> {
    const { clock } = this.#options;
    const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, () => connection.close(silent()));
    try {
      const identity = await introduce(connection);
      this.#arrived();
      if (identity === undefined || identity.session !== this.#session) throw elsewhere();
      const isSame = this.#identity?.pid === identity.pid && this.#identity.startSec === identity.startSec;
      this.#identity = identity;
      this.#epoch = createNonce().slice(0, 10);
      await this.#askPresence(connection);
      this.#hadCompany = this.#presence.some((row) => row.session === identity.session && row.others > 0);
      const { host } = this.#options.spawn;
      await Promise.all([removeAbandonedBuffers(connection, host.processes), endOrphans(connection, host)]);
      await this.#options.prepare(connection, isSame);
    } finally {
      timer.cancel();
    }
    this.#retryCode = "";
    this.#door.entered();
  }

  #notified(connection: ControlConnection, notification: Notification): void {
    const { kind } = notification;
    this.#options.gate.noticed(notification);
    if (kind === "session-changed") {
      if (notification.session === this.#destination) this.#session = this.#destination;
      else if (notification.session !== this.#session) connection.close(elsewhere());
      return;
    }
    const isPresence = kind === "sessions-changed" || kind === "client-session-changed" || kind === "client-detached";
    if (isPresence) {
      this.#noticedBy = connection;
      this.#presenceAsked.soon();
    }
    this.#options.onNotification(notification, connection);
  }

  async #askPresence(connection: ControlConnection): Promise<void> {
    const [sessions, clients] = await connection.group(PRESENCE_COMMANDS);
    const none = new Uint8Array(0);
    this.#presence = decodePresence(sessions?.body ?? none, clients?.body ?? none);
    this.#options.onPresence(this.#presence);
  }

  async #reconsider(connection: ControlConnection): Promise<void> {
    const here = this.#presence.find((row) => row.session === this.#session);
    if (here === undefined) return;
    const isLeftAlone = this.#hadCompany && here.others === 0;
    this.#hadCompany = here.others > 0;
    const mustLeave = !mayAttach(this.#presence, here.session);
    if (!mustLeave && (!isLeftAlone || this.#loans.size > 0)) return;
    const best = chooseSession(this.#presence);
    if (best === undefined) connection.close(new AppError("CONNECTION_LOST", "the last user of the session has left"));
    else if (best !== here.session) await this.#moveTo(connection, best);
  }

  async #moveTo(connection: ControlConnection, session: SessionId): Promise<void> {
    this.#options.onLeft(new AppError("CONNECTION_LOST", "the connection moved to another session"));
    this.#destination = session;
    this.#hadCompany = false;
    await connection.command(switchClient(session), "none");
  }

  /** The same failure again and again is said once. */
  #log(event: string, details: object): void {
    if (event === "connection.retry") {
      const code = JSON.stringify("code" in details ? details.code : "");
      if (code === this.#retryCode) return;
      this.#retryCode = code;
    }
    this.#options.log(event, details);
  }
}

const silent = (): AppError => new AppError("CONNECTION_LOST", "tmux does not answer; is its process stopped?");

const elsewhere = (): AppError =>
  new AppError("CONNECTION_LOST", "tmux moved the connection to another session; leaving it");
