/**
 * Decides what people are told outside of pages: a question, the end of a turn, the end of a program, a stall, a host that is
 * away. What lasts less than `SETTLE_MS` is not told, and what is not true any more is taken back (`NoticeOutbox`).
 */
import { randomBytes } from "node:crypto";
import { basename } from "node:path";
import { dialogDigest } from "../../../daemon/readiness/dialog.ts";
import type {
  AddPush,
  NativeAddChannel,
  NativeChannel,
  NoticeKind,
} from "../../../protocol/api/native/nativeNotifications.ts";
import type { Dialog } from "../../../daemon/readiness/readiness.ts";
import { AppError, shuttingDown, toAppError } from "../../../protocol/errors.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import { stateOf } from "../running/agentState.ts";
import type { RunningAgent } from "../running/runningAgent.ts";
import { safetyOfCommand } from "../running/safety.ts";
import { AnswerTickets } from "./answerTickets.ts";
import type { Channel } from "./channelBook.ts";
import { NoticeOutbox, type OutboxOptions } from "./noticeOutbox.ts";
import { MAX_BUTTONS, type Notice, type NoticeText, numbered } from "./notices.ts";
import { type LastSeen, NoticeStore } from "./noticeStore.ts";
import type { WebPush } from "./webPush.ts";

/** A state that lasts no longer is not told. */
const SETTLE_MS = 2_000;
/** A host that is back before is not told. */
const HOST_SETTLE_MS = 30_000;
const STALLED_SEC = 600;
/** Between two looks for agents that have ended while no daemon ran. */
const GONE_EVERY_MS = 10_000;

interface NotifierOptions extends Omit<OutboxOptions, "store" | "textOf" | "takenBack" | "seal" | "gone"> {
  readonly webPush: WebPush;
  readonly agents: AgentDirectory;
  /** Resolves when the agent has been busy for so long without output. @throws when that will not happen */
  readonly stalled: (agent: RunningAgent, seconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Whether somebody ends the agent through the daemon: nobody needs to be told. */
  readonly isBeingEnded: (agent: RunningAgent) => boolean;
}

export class AgentNotifier {
  readonly #options: NotifierOptions;
  readonly #store: NoticeStore;
  readonly #outbox: NoticeOutbox;
  readonly #tickets: AnswerTickets;
  readonly #seen = new Map<string, LastSeen>();
  /** Those that an earlier daemon has seen and this one has not. */
  readonly #unmet = new Set<string>();
  readonly #stalls = new Map<string, AbortController>();
  readonly #away: Set<string>;
  readonly #unsubscribes: readonly (() => void)[];
  #goneLookedMs = -Infinity;
  #isClosed = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
    const { agents, log, channels, webPush } = options;
    this.#tickets = new AnswerTickets(options.clock);
    this.#store = new NoticeStore({ database: () => agents.database, onError: (error) => this.#failed(error) });
    // Two daemons of one user may serve the same tmux: one of them tells.
    const isElsewhere = channels.length > 0 && agents.isKeptElsewhere;
    if (isElsewhere) log.warn("notify.elsewhere", {});
    this.#outbox = new NoticeOutbox({
      ...options,
      channels: isElsewhere ? [] : channels,
      store: this.#store,
      textOf: (notice, channel) => this.#textOf(notice, channel),
      takenBack: ({ id }) => this.#tickets.revokeNotice(id),
      seal: (channel, request) => webPush.seal(channel, request),
      gone: (name) => this.remove(name),
    });
    this.#away = new Set(this.#outbox.open("host"));
    if (this.#outbox.hasChannels) {
      for (const [agent, seen] of this.#store.seen()) {
        this.#seen.set(agent, seen);
        this.#unmet.add(agent);
      }
    }
    this.#unsubscribes = [
      agents.subscribe(({ kind, agent }) => this.#guarded(() => this.#look(agent, kind === "ended"))),
      agents.onCheck(() => this.#guarded(() => this.#lookForGone())),
    ];
  }

  list(): readonly NativeChannel[] {
    return this.#outbox.list();
  }

  /** @throws AppError INVALID_ARGUMENT, ALREADY_EXISTS, RESOURCE_LIMIT, INCONSISTENT_STATE */
  add(given: NativeAddChannel | AddPush): NativeChannel {
    if (this.#isClosed) throw shuttingDown();
    const { agents } = this.#options;
    if (agents.isKeptElsewhere) {
      throw new AppError(
        "INCONSISTENT_STATE",
        "another tmuxwire of yours sends the notifications; add the channel there, or stop it and start this one again",
      );
    }
    const isFirst = !this.#outbox.hasChannels;
    const added = this.#outbox.add(given);
    // What is open already is on somebody's screen.
    if (isFirst) for (const agent of agents.agents()) this.#meet(agent);
    this.#watchStalls();
    return added;
  }

  /** With which a browser subscribes. @throws AppError CONFIGURATION_INVALID, INCONSISTENT_STATE */
  pushKey(): Promise<string> {
    return this.#options.webPush.publicKey();
  }

  /** The channel of a browser. @param url its push service's address for it. @throws AppError NOT_FOUND */
  browser(url: string): NativeChannel {
    return this.#outbox.browser(url);
  }

  /** @throws AppError NOT_FOUND */
  remove(name: string): void {
    this.#outbox.remove(name);
    this.#tickets.revokeChannel(name);
    this.#watchStalls();
    if (this.#outbox.hasChannels) return;
    for (const agent of this.#seen.keys()) this.#store.forget(agent);
    this.#seen.clear();
    this.#unmet.clear();
  }

  /** Sends a test now. @throws AppError NOT_FOUND, DAEMON_UNREACHABLE: why it could not be sent */
  async test(name: string): Promise<void> {
    const about = { name: "test", program: "tmuxwire", project: undefined };
    const text = { text: "This is a test: whoever reads it is told about agents.", options: [] };
    await this.#outbox.test(name, this.#notice("asking", "agent-000000000000", about), text);
  }

  /**
   * A press on a notification's button: `choose` answers that one question, or is not called.
   * @returns what becomes of the notification
   * @throws AppError RESOURCE_LIMIT, NOT_FOUND, INVALID_ARGUMENT, and as `choose` does
   */
  async answer(token: string, option: number, choose: (answer: ButtonAnswer) => Promise<void>): Promise<string> {
    const { agent, dialogId, notice, option: chosen } = this.#tickets.redeem(token, option);
    const words = `answered: ${numbered(chosen.label, chosen.index)}`;
    // The agent goes on before `choose` is sure of it.
    this.#outbox.note(notice, words);
    try {
      await choose({ agent, dialogId, index: chosen.index });
    } catch (error) {
      this.#outbox.note(notice, undefined);
      throw error;
    }
    return words;
  }

  /** Call when a host's state changes. @param name of the host */
  hostChanged(name: string, isAway: boolean): void {
    if (!this.#outbox.hasChannels || this.#away.has(name) === isAway) return;
    if (isAway) {
      this.#away.add(name);
      this.#outbox.tell(this.#notice("host", name, { name, program: undefined, project: undefined }), HOST_SETTLE_MS);
    } else {
      this.#away.delete(name);
      this.#outbox.takeBack(name, ["host"]);
    }
  }

  /** Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    for (const stall of this.#stalls.values()) stall.abort();
    this.#outbox.close();
  }

  #look(agent: RunningAgent, hasEnded: boolean): void {
    if (!this.#outbox.hasChannels) return;
    if (hasEnded) this.#end(agent.id, this.#options.isBeingEnded(agent));
    else this.#change(agent);
  }

  #change(agent: RunningAgent): void {
    const isUnmet = this.#unmet.has(agent.id);
    const before = this.#seen.get(agent.id);
    const now = this.#meet(agent);
    if (now === undefined) return;
    this.#changed(agent, { before, now, isUnmet });
    // What is not true any more has been taken back by now.
    this.#outbox.seenAgain(agent.id);
  }

  #changed(
    agent: RunningAgent,
    {
      before,
      now,
      isUnmet,
    }: { readonly before: LastSeen | undefined; readonly now: LastSeen; readonly isUnmet: boolean },
  ): void {
    if (before?.state === now.state && isSameQuestion(before, now, isUnmet)) return;
    if (before?.state === "asking") this.#outbox.takeBack(agent.id, ["asking"]);
    if (now.state === "asking") this.#outbox.tell(this.#notice("asking", agent.id, now), SETTLE_MS);
    if (now.state !== "ready") this.#outbox.takeBack(agent.id, ["done"]);
    if (now.state === "busy") this.#watchStall(agent);
    else this.#endStall(agent.id);
    // Of one that was never seen at work nothing is known.
    const hasWorked = before?.state === "busy" || before?.state === "asking";
    if (now.state === "ready" && hasWorked) this.#outbox.tell(this.#notice("done", agent.id, now), SETTLE_MS);
  }

  /** Notes what it does. Undefined: nothing is known now. */
  #meet(agent: RunningAgent): LastSeen | undefined {
    const { state } = stateOf(agent);
    if (state !== "ready" && state !== "busy" && state !== "asking") return undefined;
    const known = this.#seen.get(agent.id);
    const seen: LastSeen = {
      state,
      // Until the next dialog has been read it is the same.
      dialog: state === "asking" ? (agent.readiness?.dialog?.id ?? known?.dialog) : undefined,
      name: agent.name,
      program: agent.kind.title,
      project: agent.cwd === undefined ? undefined : basename(agent.cwd),
    };
    this.#unmet.delete(agent.id);
    if (JSON.stringify(known) !== JSON.stringify(seen)) {
      this.#seen.set(agent.id, seen);
      this.#store.see(agent.id, seen);
    }
    return seen;
  }

  #end(agent: string, isExpected: boolean): void {
    const seen = this.#seen.get(agent);
    this.#endStall(agent);
    this.#outbox.takeBack(agent, ["asking", "done"]);
    this.#seen.delete(agent);
    this.#unmet.delete(agent);
    this.#store.forget(agent);
    if (seen !== undefined && !isExpected) this.#outbox.tell(this.#notice("ended", agent, seen), SETTLE_MS);
  }

  /** Agents that ended while no daemon looked. */
  #lookForGone(): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#unmet.size === 0 || nowMs - this.#goneLookedMs < GONE_EVERY_MS) return;
    this.#goneLookedMs = nowMs;
    const kept = new Map(this.#options.agents.remembered().map((agent) => [agent.id, agent]));
    for (const id of this.#unmet) {
      const agent = kept.get(id);
      if (agent === undefined || agent.endedUnixMs !== undefined) this.#end(id, agent === undefined);
    }
  }

  #watchStalls(): void {
    for (const agent of this.#options.agents.agents()) {
      if (this.#seen.get(agent.id)?.state === "busy") this.#watchStall(agent);
    }
  }

  /** Its output is followed for this: only where somebody wants to know. */
  #watchStall(agent: RunningAgent): void {
    if (!this.#outbox.wants("stalled")) return this.#endStall(agent.id);
    if (this.#stalls.has(agent.id)) return;
    const stall = new AbortController();
    this.#stalls.set(agent.id, stall);
    void this.#untilStalled(agent, stall.signal);
  }

  async #untilStalled(agent: RunningAgent, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.stalled(agent, STALLED_SEC, signal);
      const seen = this.#seen.get(agent.id);
      if (!signal.aborted && seen?.state === "busy") this.#outbox.tell(this.#notice("stalled", agent.id, seen), 0);
    } catch (error) {
      // The agent, its pane or the connection to tmux has gone; its next turn is watched anew.
      if (toAppError(error).code === "INTERNAL_ERROR" && !signal.aborted) this.#failed(error);
    }
  }

  #endStall(agent: string): void {
    this.#stalls.get(agent)?.abort();
    this.#stalls.delete(agent);
    this.#outbox.takeBack(agent, ["stalled"]);
  }

  #notice(kind: NoticeKind, subject: string, of: Pick<Notice, "name" | "program" | "project">): Notice {
    const { name, program, project } = of;
    const id = `notice-${randomBytes(8).toString("hex")}`;
    return { id, kind, subject, name, program, project, sinceUnixMs: this.#options.nowUnixMs() };
  }

  /** What an agent's hook says last comes after its state. */
  #textOf(notice: Notice, channel: Channel): NoticeText {
    const { kind, subject } = notice;
    const agent = this.#options.agents.known(subject);
    const dialog = kind === "asking" ? agent?.readiness?.dialog : undefined;
    const text = kind === "done" ? agent?.lastMessage : dialog?.text;
    const options = dialog?.options.map(({ label }) => label) ?? [];
    return { text, options, answer: dialog && this.#buttons(dialog, notice, channel) };
  }

  /** Only where one press is the whole answer, and destroys nothing that the question shows. */
  #buttons(dialog: Dialog, { id, subject }: Notice, { name, kind, answers = false }: Channel): NoticeText["answer"] {
    if (answers === false || dialog.multi || namesDestruction(dialog.text)) return undefined;
    const plain = dialog.options.filter(({ index, keys }) => index !== dialog.otherIndex && keys.length > 0);
    const options = plain.slice(0, MAX_BUTTONS[kind]);
    if (options.length === 0) return undefined;
    const token = this.#tickets.offer({ agent: subject, dialogId: dialog.id, notice: id, channel: name, options });
    return { token, options: options.map(({ index, label }) => ({ option: index, label })) };
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#options.log.error("notify.error", { error: toAppError(error) });
  }
}

interface ButtonAnswer {
  /** By id. */
  readonly agent: string;
  readonly dialogId: string;
  /** From 0. */
  readonly index: number;
}

/** Whether a command in it destroys something, wherever in a line it begins. */
const namesDestruction = (text: string): boolean =>
  text
    .split("\n")
    .some((line) =>
      [...line.matchAll(/\S+/g)].some(({ index }) => safetyOfCommand(line.slice(index)) === "destructive"),
    );

/** A dialog that has not been read yet is the one that is read next. */
function isSameQuestion({ dialog: one }: LastSeen, { dialog: other }: LastSeen, isAfterRestart: boolean): boolean {
  if (one === undefined || other === undefined || one === other) return true;
  return isAfterRestart && dialogDigest(one) === dialogDigest(other);
}
