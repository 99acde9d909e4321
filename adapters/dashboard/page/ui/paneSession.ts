/**
 * One open pane: its stream on a screen, and its keyboard while the person has control. Closed with its view. A tab that is
 * not looked at has no stream: a browser keeps six connections to a server, for all its tabs together.
 */
import type { Clock, Timer } from "../../../../daemon/time/clock.ts";
import type { NativeExit } from "../../../../protocol/api/native/nativeResponses.ts";
import type { SseEvent } from "../../../../protocol/text/sse.ts";
import { decodeBase64, type PaneEvent, paneEvent } from "../../../client/clientEvents.ts";
import type { AgentCard } from "../model/agentCard.ts";
import type { Api } from "../net/api.ts";
import { InputSender } from "../net/inputSender.ts";
import { SseLink } from "../net/sseLink.ts";
import { endControl, holdControl, releaseControl } from "./control.ts";
import type { PaneStatus } from "./paneStatus.ts";
import { FIRST_STATUS } from "./paneStatus.ts";
import type { ReflowedScreen } from "./reflowedScreen.ts";
import { Screen } from "./screen.ts";

/** Whoever looks something up in another tab comes back within this. */
const HIDDEN_MS = 30_000;

interface PaneSessionOptions {
  readonly card: AgentCard;
  readonly place: HTMLElement;
  /** For its text, wrapped to the width of this element. */
  readonly reflowed: HTMLElement | null;
  readonly isReflowed: boolean;
  readonly api: Api;
  readonly clock: Clock;
  readonly onStatus: (status: PaneStatus) => void;
}

export class PaneSession {
  readonly #options: PaneSessionOptions;
  readonly #screen: Screen;
  readonly #input: InputSender;
  #link: SseLink | undefined;
  #hidden: Timer | undefined;
  readonly #reflowed: ReflowedScreen | undefined;
  readonly #release = (): void => this.#setControl(false);
  readonly #looked = (): void => this.#visible(!document.hidden);
  #status: PaneStatus = FIRST_STATUS;
  #ended = false;

  constructor(options: PaneSessionOptions) {
    const { card, api, clock, place } = options;
    this.#options = options;
    this.#input = new InputSender({
      send: (input, signal) => api.type(card, input, signal),
      clock,
      onProblem: (problem) => this.#update({ problem: `some keys may not have arrived: ${problem}` }),
    });
    this.#screen = new Screen(place, (data) => this.#input.type(data));
    this.#reflowed = options.reflowed === null ? undefined : this.#screen.reflowedIn(options.reflowed);
    this.#reflowed?.show(options.isReflowed);
    this.#visible(!document.hidden);
    document.addEventListener("visibilitychange", this.#looked);
  }

  /** Keys go to the pane until `release`, wherever it is called. */
  takeControl(): void {
    if (!this.#status.live) return;
    holdControl(this.#release);
    this.#setControl(true);
  }

  /** Whether its text is shown, wrapped, in the place for it. */
  reflow(isReflowed: boolean): void {
    this.#reflowed?.show(isReflowed);
  }

  /** Where the terminal is not seen, a press on its text is meant for it. */
  focus(): void {
    if (this.#status.controlled) this.#screen.focus();
  }

  /** Sends nothing without control. */
  type(input: string): void {
    if (this.#status.controlled) this.#input.type(input);
  }

  release(): void {
    if (this.#status.controlled) releaseControl();
  }

  /** Safe to call twice. */
  close(): void {
    endControl(this.#release);
    this.#input.drop();
    this.#ended = true;
    document.removeEventListener("visibilitychange", this.#looked);
    this.#hidden?.cancel();
    this.#link?.close();
    this.#reflowed?.close();
    this.#screen.close();
  }

  #visible(isVisible: boolean): void {
    const { clock } = this.#options;
    this.#hidden?.cancel();
    if (this.#ended) return;
    if (isVisible) {
      this.#link ??= this.#connect();
      this.#link.woke();
    } else
      this.#hidden = clock.callAt(clock.nowMs() + HIDDEN_MS, () => this.#disconnect("paused: this tab was hidden"));
  }

  #disconnect(words: string): void {
    const link = this.#link;
    this.#link = undefined;
    link?.close();
    this.#lost(words);
  }

  #connect(): SseLink {
    const { api, card, clock } = this.#options;
    return new SseLink({
      // Always from a fresh snapshot: after a pause the screen is redrawn, not caught up.
      open: (_lastEventId, signal) => api.pane(card, signal),
      clock,
      nowUnixMs: () => Date.now(),
      random: () => Math.random(),
      onState: (state) => {
        if (this.#ended) return;
        if (state.kind === "live") this.#update({ live: true, words: "live" });
        else if (state.kind === "lost") this.#lost(`${state.message}; trying again…`);
        else if (state.kind === "refused") this.#lost(state.message);
      },
      onEvent: (event) => {
        const decoded = decode(event);
        return decoded === undefined ? undefined : this.#show(decoded);
      },
    });
  }

  #show(event: PaneEvent): void | Promise<void> {
    switch (event.kind) {
      case "open":
        this.#resize(event.cols, event.rows);
        return;
      case "output":
        return this.#screen.write(event.bytes);
      case "snapshot": {
        const { cols, rows, bytes } = event;
        this.#update({ size: sizeText(cols, rows), words: "live" });
        return this.#screen.repaint(cols, rows, bytes);
      }
      case "gap":
        this.#update({ words: "output was skipped, redrawing…" });
        return;
      case "resize":
        this.#resize(event.cols, event.rows);
        return;
      case "exit":
        this.#update({ words: `the program has ended${exitText(event)}` });
        return;
      // Never requested.
      case "input":
      case "readiness":
        return;
      case "closed":
        // Whatever else ends a stream, such as a daemon that is started again, does not end the pane.
        if (event.code !== "NOT_FOUND") return;
        this.#ended = true;
        this.#disconnect(event.message);
        return;
    }
  }

  #resize(cols: number, rows: number): void {
    this.#update({ size: sizeText(cols, rows) });
    this.#screen.resize(cols, rows);
  }

  /** Control ends with the stream: nobody should type blind. */
  #lost(words: string): void {
    this.release();
    this.#update({ live: false, words });
  }

  #setControl(controlled: boolean): void {
    this.#screen.control(controlled);
    if (!controlled) this.#input.drop();
    this.#update(controlled ? { controlled, problem: undefined } : { controlled });
  }

  #update(change: Partial<PaneStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#options.onStatus(this.#status);
  }
}

const decode = ({ event, data, id }: SseEvent): PaneEvent | undefined =>
  event === "output"
    ? { kind: event, bytes: decodeBase64(data), position: id }
    : paneEvent(event, JSON.parse(data) as object);

function exitText({ exitCode, signal }: NativeExit): string {
  if (signal !== undefined) return ` by signal ${signal}`;
  return exitCode === undefined ? "" : ` with ${exitCode}`;
}

const sizeText = (cols: number, rows: number): string => `${cols}×${rows}`;
