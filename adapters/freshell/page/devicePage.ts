/**
 * The page's controller: finds out whether it is the device, keeps the connection, and carries out what a person asks for.
 * It knows nothing of the document, so it can be tested without one.
 */
import type { Timed } from "../../../daemon/time/clock.ts";
import type { ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import type { RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import { FreshellLink, type LinkState, type ReadyMessage } from "../devices/freshellLink.ts";
import { answerRequest, failed, layoutMessage, presenceMessage } from "../devices/ownerMessages.ts";
import {
  type BrowserDevice,
  keepAllow,
  openStoredDevice,
  storedAllow,
  type TextStore,
} from "./device/deviceStorage.ts";
import { LeaderPage } from "./device/leaderPage.ts";
import {
  type DeviceAsk,
  type DeviceView,
  FollowerPage,
  type PageChannel,
  type PageMessage,
} from "./device/profilePages.ts";
import { type DeviceState, FIRST_STATE, withView } from "./ui/deviceState.ts";
import { isLoggedOut, PageApi, type PageLogin } from "./net/pageApi.ts";
import { SessionStreams } from "./net/sessionStreams.ts";
import { TerminalStreams } from "./net/terminalStreams.ts";

interface DevicePageOptions extends Timed {
  readonly device: BrowserDevice;
  readonly login: PageLogin;
  readonly store: TextStore;
  readonly channel: PageChannel;
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>;
  readonly openSocket: ConstructorParameters<typeof FreshellLink>[0]["open"];
  readonly random: () => number;
  readonly newId: () => string;
  /** Calls `DevicePage.sendHeartbeat` at this interval; 0 stops it. */
  readonly heartbeatEvery: (ms: number) => void;
  readonly onChange: () => void;
}

/** How long a line about another device's change is shown over the panes. */
const LINE_SHOWN_MS = 20_000;

export class DevicePage {
  readonly api: PageApi;
  readonly streams: TerminalStreams;
  readonly sessions: SessionStreams;
  readonly #options: DevicePageOptions;
  readonly #labels = new Map<string, string>();
  #state: DeviceState = FIRST_STATE;
  #link: FreshellLink | undefined;
  #leader: LeaderPage | undefined;
  #follower: FollowerPage | undefined;

  constructor(options: DevicePageOptions) {
    const { login, fetch, channel } = options;
    this.#options = options;
    this.api = new PageApi(fetch, login);
    this.streams = new TerminalStreams({
      send: (message) => this.#link?.send(message) ?? false,
      find: async (terminalId) => (await this.api.terminals()).find((one) => one.terminalId === terminalId),
      onSized: (terminalId, size) => channel.post({ kind: "size", terminalId, ...size }),
    });
    this.sessions = new SessionStreams((message) => this.#link?.send(message) ?? false);
    channel.listen((message) => this.#onMessage(message));
  }

  get state(): DeviceState {
    return this.#state;
  }

  get device(): BrowserDevice {
    return this.#options.device;
  }

  update(change: Partial<DeviceState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.onChange();
  }

  /** This page becomes the device. */
  lead(): void {
    const { device, store, clock, nowUnixMs, newId } = this.#options;
    this.#follower?.close();
    this.#follower = undefined;
    try {
      const { runtime, note } = openStoredDevice({
        store,
        deviceId: device.deviceId,
        clock,
        nowUnixMs,
        newId,
        onChange: () => this.#changed(),
      });
      this.#leader = new LeaderPage({
        deviceId: device.deviceId,
        runtime,
        allow: storedAllow(store),
        notes: note === undefined ? [] : [note],
        request: (frame) => this.#link?.request(frame) ?? Promise.resolve(AWAY),
        createTerminal: async (options) => (await this.api.createTerminal(options)).terminalId,
        labelOf: (deviceId) => this.#labels.get(deviceId) ?? deviceId,
        nowUnixMs,
        newId,
        onAllow: (allow) => this.#allowed(allow),
        onView: (view) => this.#show(view),
      });
    } catch (error) {
      this.update({ fault: error instanceof Error ? error.message : "the layout cannot be read" });
      return;
    }
    this.update({ role: "owner", fault: undefined });
    this.#leader.show();
    this.#connect("owner");
  }

  /** Another page is the device. */
  follow(): void {
    const { channel, clock, newId } = this.#options;
    const post = (message: PageMessage): void => channel.post(message);
    this.#follower = new FollowerPage({ post, clock, newId });
    this.update({ role: "mirror" });
    channel.post({ kind: "who" });
    this.#connect("caller");
  }

  /** A person's request; a refusal is shown. */
  async perform(ask: DeviceAsk): Promise<RpcOutcome> {
    const { role } = this.#state;
    const outcome =
      role === "superseded"
        ? SUPERSEDED
        : await ((this.#leader ?? this.#follower)?.perform(ask) ?? Promise.resolve(AWAY));
    if (!outcome.ok) this.update({ problem: outcome.error.message });
    return outcome;
  }

  /** Hides the line; it stays in the list. */
  read(lineId: string): void {
    this.update({ readLines: new Set([...this.#state.readLines, lineId]) });
  }

  /** Resolves with what is wrong; undefined on success. */
  async giveToken(token: string): Promise<string | undefined> {
    try {
      await this.#options.login.open(token);
    } catch (error) {
      if (isLoggedOut(error)) return "This is not the server's token.";
      return error instanceof Error ? error.message : "the token could not be sent";
    }
    this.retryNow();
    return undefined;
  }

  async logOut(): Promise<void> {
    await this.#options.login.close();
    this.#connect(this.#state.role === "owner" ? "owner" : "caller");
  }

  retryNow(): void {
    if (this.#state.role !== "superseded") this.#link?.retryNow();
  }

  /** Sends a sign of life to the server. */
  sendHeartbeat(): void {
    if (this.#leader === undefined) return;
    const { allow, layout } = this.#leader;
    this.#link?.send(presenceMessage(layout, allow));
  }

  #connect(role: "owner" | "caller"): void {
    const { login, device, openSocket, clock, random, newId } = this.#options;
    this.#link?.close();
    const link: FreshellLink = new FreshellLink({
      open: openSocket,
      token: (refused) => login.token(refused),
      isLoggedOut,
      device: { ...device, deviceType: "browser", role },
      clock,
      random,
      newId,
      onState: (state) => {
        if (this.#link === link) this.#linked(state);
      },
      onReady: (ready) => this.#ready(ready),
      onMessage: (message) => this.#handle(message),
    });
    this.#link = link;
    link.start();
  }

  #linked(link: LinkState): void {
    if (link.kind === "closed") return;
    if (link.kind !== "live" && this.#state.link.kind === "live") this.streams.lost();
    if (link.kind === "superseded") {
      this.#options.heartbeatEvery(0);
      this.update({ link, role: "superseded" });
    } else this.update({ link });
  }

  #ready({ heartbeatIntervalMs }: ReadyMessage): void {
    if (this.#leader !== undefined) {
      this.sendHeartbeat();
      this.#publish();
      this.#options.heartbeatEvery(heartbeatIntervalMs);
    }
    this.streams.ready();
    this.sessions.ready();
    void this.#learnLabels();
  }

  #handle(message: ServerMessage): void {
    if (message.type === "layout.rpc.request") {
      const leader = this.#leader;
      if (leader !== undefined)
        answerRequest(
          message,
          (request) => leader.respond(request),
          (answer) => this.#link?.send(answer),
        );
    } else if (message.type === "device.presence") this.#labels.set(message.deviceId, message.deviceLabel);
    else if (!this.streams.handle(message) && !this.sessions.handle(message) && message.type === "error") {
      this.update({ problem: message.message });
    }
  }

  #onMessage(message: PageMessage): void {
    switch (message.kind) {
      case "who":
        this.#leader?.show();
        return;
      case "view":
        if (this.#follower !== undefined) this.#show(message.view);
        return;
      case "ask":
        void this.#performFor(message.askId, message.ask);
        return;
      case "answer":
        this.#follower?.settle(message.askId, message.outcome);
        return;
      case "size": {
        const { terminalId, cols, rows } = message;
        this.streams.sizedElsewhere(terminalId, { cols, rows });
        return;
      }
    }
  }

  /** A request from another page of the profile. */
  async #performFor(askId: string, ask: DeviceAsk): Promise<void> {
    const outcome = this.#state.role === "superseded" ? SUPERSEDED : await this.#leader?.perform(ask);
    if (outcome !== undefined) this.#options.channel.post({ kind: "answer", askId, outcome });
  }

  /** The layout has changed, and is stored. */
  #changed(): void {
    this.#publish();
    this.#leader?.show();
  }

  #publish(): void {
    const layout = this.#leader?.layout;
    if (layout !== undefined) this.#link?.send(layoutMessage(layout));
  }

  #show(view: DeviceView): void {
    if (this.#leader !== undefined) this.#options.channel.post({ kind: "view", view });
    const { clock } = this.#options;
    const known = new Set(this.#state.view?.lines.map(({ id }) => id));
    for (const { id } of view.lines.filter((line) => !known.has(line.id))) {
      clock.callAt(clock.nowMs() + LINE_SHOWN_MS, () => this.read(id));
    }
    this.#state = withView(this.#state, view);
    this.#options.onChange();
  }

  #allowed(allow: readonly string[]): void {
    keepAllow(this.#options.store, allow);
    // The desk has it after this turn.
    queueMicrotask(() => this.sendHeartbeat());
  }

  async #learnLabels(): Promise<void> {
    const devices = await this.api.devices().catch(() => []);
    for (const { deviceId, deviceLabel } of devices) this.#labels.set(deviceId, deviceLabel);
  }
}

const AWAY = failed("not connected to the server, so nothing was done: try again once it is back");
const SUPERSEDED = failed("another page is this device now: take it over first");
