/**
 * The one connection to a guest's server that exists as long as the server: commands and notifications, no output unless
 * its session is watched. It is attached to one of the user's sessions because a control client must be, and it never
 * stays in one that it did not choose: moved by tmux (docs/tmuxFacts.md 32b) it leaves, and where the user's options end
 * things with the last person, it does not outstay them.
 */
import { pausePanes, setClientFlags, switchClient } from "../../../protocol/command/build.ts";
import type { ServerIdentity } from "../../../protocol/command/formats.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import { notResponding } from "../../connection/connectionErrors.ts";
import { ControlConnection } from "../../connection/controlConnection.ts";
import { createNonce } from "../../connection/framing.ts";
import { Supervisor } from "../../connection/supervisor.ts";
import { introduce } from "../../connection/tmuxFeatures.ts";
import { SingleFlight } from "../../time/singleFlight.ts";
import type { Clock } from "../../time/clock.ts";
import type { AttachGate } from "./attachGate.ts";
import { clientCheckup } from "../clientCheck.ts";
import { GuestReachability } from "./guestReachability.ts";
import { introductionTo } from "../introduction.ts";
import { attachCommand, guestClient, type GuestSpawn } from "./guestProbe.ts";
import { removeAbandonedBuffers } from "./guestBuffers.ts";
import { type AttachChannel, type AttachClient, resume } from "./attachClient.ts";
import type { GuestInventory } from "./guestInventory.ts";
import type { GuestLife } from "./guestLife.ts";
import { endOrphans } from "../orphanedClients.ts";
import {
  chooseSession,
  decodePresence,
  isSamePresence,
  mayAttach,
  type Presence,
  PRESENCE_COMMANDS,
} from "./guestPresence.ts";
import { isClientReport } from "../clientReports.ts";
import { isWaiting } from "../processState.ts";
import { type UnfollowedPanes, WRITTEN } from "./unfollowedPanes.ts";
import type { ServerState } from "../../tmux/inventory.ts";

export interface GuestBaseOptions {
  readonly spawn: GuestSpawn;
  readonly gate: AttachGate;
  readonly clock: Clock;
  readonly inventory: GuestInventory;
  readonly life: GuestLife;
  readonly unfollowed: UnfollowedPanes;
  /** Every few seconds while tmux responds. */
  readonly onBeat: () => void;
  /** What was known is void: there is no server, no session in it, or it is another one. */
  readonly onGone: (error: AppError) => void;
  /** Who is attached where has been listed again. */
  readonly onPresence: () => void;
  readonly log: (event: string, fields: object) => void;
  readonly heartbeatMs?: number | undefined;
}

/** The attach client whose session this connection is on, and which gets its output. */
interface Carried {
  readonly client: AttachClient;
  readonly onNotification: (notification: Notification) => void;
  /** tmux has confirmed that output flows: before, it pauses only what `close` had it pause. */
  isOn: boolean;
}

export class GuestBase {
  readonly #options: GuestBaseOptions;
  readonly #supervisor: Supervisor;
  readonly #reachability: GuestReachability;
  #identity: ServerIdentity | undefined;
  #session: SessionId | undefined;
  /** The session that `switch-client` was asked for, until it is there. */
  #destination: SessionId | undefined;
  #presence: Presence = [];
  #hadCompany = false;
  #carried: Carried | undefined;
  /** The connection that last reported a change of who is attached. */
  #noticedBy: ControlConnection | undefined;
  /** A failure is the connection's: the next connection asks anew. */
  readonly #presenceAsked = new SingleFlight(async () => {
    const connection = this.#noticedBy;
    if (connection === undefined) return;
    await this.#askPresence(connection);
    await this.#reconsider(connection);
  });
  #epoch = "";
  readonly #log: ConnectionLog;
  /** Tells the gate that tmux has replied to the client that is being started. */
  #arrived: () => void = () => undefined;

  constructor(options: GuestBaseOptions) {
    this.#options = options;
    const { life, onBeat, onGone } = options;
    this.#log = new ConnectionLog(options.log);
    this.#reachability = new GuestReachability({
      spawn: options.spawn,
      clock: options.clock,
      onGone: () => {
        this.#identity = undefined;
        onGone(new AppError("CONNECTION_LOST", "the tmux server has ended"));
      },
      onAppeared: () => this.#supervisor.retryNow(),
    });
    this.#supervisor = new Supervisor({
      clock: options.clock,
      open: () => this.#open(),
      prepare: (fresh) => this.#prepare(fresh),
      onState: (state) => life.baseChanged(state),
      heartbeatMs: options.heartbeatMs,
      checkup: () => clientCheckup(() => [this.#session, this.#destination], this.#carried !== undefined),
      onBeat,
      isServerIdle: this.isServerIdle,
      onEvent: (event, details) => this.#log.write(event, details),
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

  /** While it responds. */
  get serverPid(): number | undefined {
    return this.state === "ready" ? this.#identity?.pid : undefined;
  }

  /** Whether tmux waits for an event; false if that cannot be known. */
  readonly isServerIdle = (): boolean => isWaiting(this.#options.spawn.host.processes, this.#identity?.pid);

  get presence(): Presence {
    return this.#presence;
  }

  /** The session it is attached to, while it is; undefined while it moves, because what is carried then stays behind. */
  get session(): SessionId | undefined {
    return this.state === "ready" && this.#destination === undefined ? this.#session : undefined;
  }

  /** The session that it is on, or was last. */
  get place(): SessionId | undefined {
    return this.#session;
  }

  /** Resolves when a running server has been listed, or none was found. */
  start(): Promise<void> {
    return this.#supervisor.startOrWait();
  }

  check(): Promise<void> {
    return this.#supervisor.check();
  }

  /** @throws AppError CONNECTION_LOST, and while there is no server, why: `details.reason`; TMUX_UNAVAILABLE without tmux */
  connection(): ControlConnection {
    const { absence } = this.#reachability;
    if (absence !== undefined && this.state === "connecting") throw absence;
    return this.#supervisor.connection();
  }

  /** It carries this client's session. */
  carries(client: AttachClient): boolean {
    return this.#carried?.client === client;
  }

  /**
   * Carries the output of the session it is on, until the channel is closed.
   * @param onNotification also gets this connection's notifications
   * @throws AppError CONNECTION_LOST
   */
  async carry(client: AttachClient, onNotification: Carried["onNotification"]): Promise<AttachChannel> {
    const connection = this.connection();
    const carried: Carried = { client, onNotification, isOn: false };
    this.#carried = carried;
    const close = (): void => {
      if (this.#carried !== carried) return;
      this.#carried = undefined;
      if (connection.closed) return;
      // What is queued when `no-output` comes stays queued, and everything after it (docs/tmuxFacts.md 51).
      const { known } = this.#options.inventory;
      const panes = (known.session(client.session)?.windows ?? []).flatMap((window) => known.panesOf(window));
      connection.sendGroup([...pausePanes(panes), setClientFlags("no-output")], () => undefined);
    };
    try {
      await new Promise<void>((resolve, reject) => {
        // In the turn of the reply, because more can come behind it at once.
        connection.send(setClientFlags("!no-output"), "none", (outcome) => {
          if ("error" in outcome) return reject(outcome.error);
          carried.isOn = true;
          return resolve();
        });
      });
    } catch (error) {
      close();
      throw error;
    }
    return { connection, close };
  }

  /** Goes to another session if it is attached to one of these and there is another. @throws AppError CONNECTION_LOST */
  async leaveSessions(sessions: readonly SessionId[]): Promise<void> {
    const isIn = this.session !== undefined && sessions.includes(this.session);
    const other = chooseSession(this.#presence, sessions);
    if (isIn && other !== undefined) await this.#moveTo(this.connection(), other);
  }

  /** Safe to call twice. */
  close(): void {
    this.#reachability.close();
    this.#supervisor.close();
  }

  async #open(): Promise<ControlConnection> {
    const { gate, life } = this.#options;
    for (;;) {
      const before = await this.#probe();
      this.#arrived = await gate.enter();
      try {
        // Between the two looks nobody may have told us anything.
        const now = gate.server.introduction === "calm" ? await this.#probe() : before;
        if (life.hasFallback || isSamePresence(before, now)) return this.#attach(now);
        gate.disturbed();
        this.#arrived();
      } catch (error) {
        this.#arrived();
        throw error;
      }
    }
  }

  async #probe(): Promise<Presence> {
    const { gate, log, spawn } = this.#options;
    const { version, presence } = await this.#reachability.probe();
    const introduction = introductionTo(version, spawn.openDirect !== undefined);
    const isKnown = gate.server.version === version && gate.server.introduction === introduction;
    gate.probed({ version, introduction });
    if (presence.length > 0 && introduction !== "any" && !isKnown)
      log("tmux.old", { tmux: version, ...OLD_TMUX[introduction] });
    return presence;
  }

  #attach(presence: Presence): ControlConnection {
    const { spawn, gate } = this.#options;
    const session = chooseSession(presence);
    if (session === undefined) {
      throw this.#reachability.refuse(
        new AppError("CONNECTION_LOST", "the tmux server has no session to attach to; create one there", {
          details: { reason: "tmux_no_session" },
        }),
      );
    }
    this.#session = session;
    this.#destination = undefined;
    this.#carried = undefined;
    const connection: ControlConnection = new ControlConnection({
      ...guestClient(spawn, attachCommand(session, "no-output"), gate.server),
      onOutput: (paneNumber, line, from, to) => this.#carried?.client.takeEscaped(paneNumber, line, from, to),
      onNotification: (notification) => this.#notified(connection, notification),
      onChunkEnd: () => {
        this.#supervisor.received();
        this.#carried?.client.announce();
      },
      onClosed: (error) => {
        gate.disturbed();
        this.#arrived();
        this.#carried?.client.close(error);
        this.#reachability.lost(error, () => this.state === "connecting");
        this.#supervisor.lost(connection, error);
      },
    });
    return connection;
  }

  async #prepare(connection: ControlConnection): Promise<void> {
    const { clock } = this.#options;
    const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, () => connection.close(notResponding()));
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
      const { inventory, unfollowed, onGone } = this.#options;
      if (!isSame) onGone(new AppError("CONNECTION_LOST", "another tmux server has taken its place"));
      await inventory.listOver(connection);
      unfollowed.attached(connection);
    } finally {
      timer.cancel();
    }
    this.#log.recovered();
    this.#reachability.attached();
  }

  #notified(connection: ControlConnection, notification: Notification): void {
    const { kind } = notification;
    this.#options.gate.noticed(notification);
    if (kind === "session-changed") {
      if (notification.session === this.#destination) {
        this.#session = this.#destination;
        this.#destination = undefined;
        this.#options.inventory.silent.look();
        this.#options.unfollowed.baseMoved();
      } else if (notification.session !== this.#session) connection.close(elsewhere());
      return;
    }
    const isPresence = kind === "sessions-changed" || kind === "client-session-changed" || kind === "client-detached";
    if (isPresence) {
      this.#noticedBy = connection;
      this.#presenceAsked.soon();
    }
    if (kind === "subscription-changed" && notification.name === WRITTEN) {
      this.#options.unfollowed.written(notification.value);
      return;
    }
    const carried = this.#carried;
    if (kind === "pause" && carried?.isOn === true) resume(connection, carried.client, notification.pane);
    carried?.onNotification(notification);
    if (isClientReport(notification)) return;
    this.#options.inventory.refresher.notified(notification);
  }

  async #askPresence(connection: ControlConnection): Promise<void> {
    const [sessions, clients] = await connection.group(PRESENCE_COMMANDS);
    const none = new Uint8Array(0);
    this.#presence = decodePresence(sessions?.body ?? none, clients?.body ?? none);
    this.#options.onPresence();
  }

  async #reconsider(connection: ControlConnection): Promise<void> {
    const here = this.#presence.find((row) => row.session === this.#session);
    if (here === undefined) return;
    const isLeftAlone = this.#hadCompany && here.others === 0;
    this.#hadCompany = here.others > 0;
    const mustLeave = !mayAttach(this.#presence, here.session);
    if (!mustLeave && (!isLeftAlone || this.#carried !== undefined)) return;
    const best = chooseSession(this.#presence);
    if (best === undefined) connection.close(new AppError("CONNECTION_LOST", "the last user of the session has left"));
    else if (best !== here.session) await this.#moveTo(connection, best);
  }

  async #moveTo(connection: ControlConnection, session: SessionId): Promise<void> {
    this.#carried?.client.close(new AppError("CONNECTION_LOST", "the connection moved to another session"));
    this.#destination = session;
    this.#hadCompany = false;
    try {
      await connection.command(switchClient(session), "none");
    } catch (error) {
      this.#destination = undefined;
      throw error;
    }
  }
}

/** What can happen below 3.7 (docs/tmuxFacts.md 50). */
const CRASHES = "it can crash when a control client attaches while sessions come and go; tmux 3.7 cannot";
const OLD_TMUX = {
  direct: { risk: CRASHES, ours: "attach in an order that cannot crash it; other programs' may" },
  calm: { risk: CRASHES, ours: "attach one at a time, and only once the server is calm: upgrade tmux" },
} as const;

const elsewhere = (): AppError =>
  new AppError("CONNECTION_LOST", "tmux moved the connection to another session; leaving it");

/** What a connection logs: a repeated failure only once, until it has recovered. */
class ConnectionLog {
  readonly #write: GuestBaseOptions["log"];
  #retryCode = "";

  constructor(write: GuestBaseOptions["log"]) {
    this.#write = write;
  }

  write(event: string, fields: object): void {
    if (event === "connection.retry") {
      const code = JSON.stringify("code" in fields ? fields.code : "");
      if (code === this.#retryCode) return;
      this.#retryCode = code;
    }
    this.#write(event, fields);
  }

  recovered(): void {
    this.#retryCode = "";
  }
}
