/**
 * What an agent's screen says, as a second source of its state beside its hooks. A dialog that has been read is believed
 * at once. Work and rest are believed of agents that have no hooks, and of the others when the profile knows the program
 * and what it shows has held for a while: programs repaint around their dialogs, and hooks are quicker. While an answer of
 * ours is under way its own keys change the screen: what that means is decided once the answer is over.
 */
import type { PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { type Agent, openTask } from "../agents/agent.ts";
import {
  type AskedQuestion,
  ASKING_TOOLS,
  type OpenQuestion,
  questionOfDialog,
  questionOfNotification,
} from "../agents/questions.ts";
import { SCREEN_SETTLE_MS } from "../dashboardLimits.ts";
import type { AgentPlacesOptions } from "./agentPlaces.ts";

const EVENT_TYPE = "readiness";

interface ScreenStatesOptions extends Pick<AgentPlacesOptions, "desk" | "clock" | "log"> {
  /** Its pane, as it is watched; undefined: it is not, or not any more. */
  readonly watchOf: (agent: Agent) => PaneReadiness | undefined;
  /** The screen shows a question that no hook has told of. */
  readonly onAsked: (agent: Agent) => void;
}

export class ScreenStates {
  readonly #options: ScreenStatesOptions;
  readonly #settling = new Map<Agent, Timer>();
  /** Agents whose screen has changed while an answer was under way. */
  readonly #changedMeanwhile = new Set<Agent>();
  /** The agent whose hook is being carried out, and whether its pane's readiness has become another one by it. */
  #reported: { readonly agent: Agent; isChanged: boolean } | undefined;

  constructor(options: ScreenStatesOptions) {
    this.#options = options;
  }

  /** The pane's readiness is another one now. */
  changed(agent: Agent, readiness: Readiness): void {
    const before = agent.readiness;
    const { task, question } = agent;
    const isChanged = isChange(before, readiness);
    if (this.#reported?.agent === agent) this.#reported.isChanged ||= isChanged;
    if (agent.answer === undefined) this.#apply(agent, readiness);
    else this.#keep(agent, readiness);
    const isReported = agent.task !== task || agent.question !== question || this.#reported?.agent === agent;
    if (isChanged && !isReported) this.#options.desk.refreshCard(agent, EVENT_TYPE);
  }

  #keep(agent: Agent, readiness: Readiness): void {
    agent.readiness = readiness;
    this.forget(agent);
    this.#changedMeanwhile.add(agent);
  }

  /** The answer that was under way is over, and recorded if it was delivered: what was shown meanwhile counts now. */
  answerOver(agent: Agent): void {
    const { readiness } = agent;
    if (!this.#changedMeanwhile.delete(agent) || readiness === undefined) return;
    // A dialog that was seen on the way may have gone since.
    if (readiness.state === "asking") void this.captureDialog(agent);
    else this.#apply(agent, readiness);
  }

  /**
   * While a hook reports what its agent does: the hook reports what follows from it, in its own order. Returns whether the
   * readiness has changed by it, for a hook that reports nothing else.
   */
  duringHook(agent: Agent, report: () => void): boolean {
    const reported = { agent, isChanged: false };
    this.#reported = reported;
    try {
      report();
    } finally {
      this.#reported = undefined;
    }
    return reported.isChanged;
  }

  /** The dialog of the question that is open now; what was read before its hook may be the dialog before. */
  async captureDialog(agent: Agent): Promise<void> {
    const { question } = agent;
    const { watchOf, log } = this.#options;
    const watch = watchOf(agent);
    try {
      const readiness = await watch?.probe();
      const isOpen = agent.question === question && watchOf(agent) === watch;
      if (isOpen && readiness?.dialog !== undefined) this.changed(agent, readiness);
    } catch (error) {
      log.debug("dashboard.pane.unseen", { agent: agent.record.id, code: toAppError(error).code });
    }
  }

  #apply(agent: Agent, readiness: Readiness): void {
    agent.readiness = readiness;
    this.forget(agent);
    switch (readiness.state) {
      case "asking":
        this.#asking(agent, readiness);
        return;
      case "busy":
        this.#busy(agent, readiness);
        return;
      case "idle":
        this.#idle(agent, readiness);
        return;
      case "starting":
      case "dead":
      case "unknown":
        return;
    }
  }

  forget(agent: Agent): void {
    this.#settling.get(agent)?.cancel();
    this.#settling.delete(agent);
    this.#changedMeanwhile.delete(agent);
  }

  close(): void {
    for (const timer of this.#settling.values()) timer.cancel();
    this.#settling.clear();
  }

  #asking(agent: Agent, { dialog }: Readiness): void {
    const { desk } = this.#options;
    const { question } = agent;
    if (dialog === undefined) {
      // A hook's question follows within milliseconds, and so does the dialog.
      if (question === undefined) {
        this.#whenSettled(agent, () => this.#asked(agent, questionOfNotification(undefined, undefined)));
      }
      return;
    }
    // The hook brings its own text; the dialog is captured after that.
    if (this.#reported?.agent === agent) return;
    if (question === undefined) {
      this.#asked(agent, questionOfDialog(dialog));
      return;
    }
    const shown = questionOfDialog(dialog, baseOf(question));
    if (question.dialogId === dialog.id) {
      // The same dialog with its mark elsewhere: other keys choose now.
      agent.question = { ...shown, turn: question.turn };
      if (JSON.stringify(shown.options) !== JSON.stringify(question.options)) desk.refreshCard(agent, EVENT_TYPE);
      return;
    }
    const isNext = question.dialogId !== undefined && !(question.tool !== undefined && ASKING_TOOLS.has(question.tool));
    if (isNext) this.#asked(agent, questionOfDialog(dialog));
    else desk.enriched(agent, shown);
  }

  #asked(agent: Agent, question: AskedQuestion): void {
    this.#options.desk.asked(agent, question, EVENT_TYPE);
    this.#options.onAsked(agent);
  }

  #busy(agent: Agent, readiness: Readiness): void {
    const { desk } = this.#options;
    const { question } = agent;
    if (openTask(agent)?.state !== "awaiting_input") {
      if (openTask(agent) !== undefined || !isConclusive(agent, readiness)) return;
      this.#whenSettled(agent, () => desk.started(agent, EVENT_TYPE));
      return;
    }
    if (this.#reported?.agent === agent) return;
    // It was on the screen and is gone: it has been answered.
    if (question?.dialogId !== undefined) desk.resumed(agent, EVENT_TYPE, null);
    // A hook from before the question says nothing about it, even if another profile weighs it only now.
    else if (isConclusive(agent, readiness) && readiness.source !== "hook") {
      this.#whenSettled(agent, () => desk.resumed(agent, EVENT_TYPE, null));
    }
  }

  #idle(agent: Agent, readiness: Readiness): void {
    const task = openTask(agent);
    if (task === undefined || !isConclusive(agent, readiness)) return;
    // A question that was never a dialog is asked in the prompt box, where idle means waiting.
    if (task.state === "awaiting_input" && agent.question?.dialogId === undefined) return;
    this.#whenSettled(agent, () => this.#options.desk.completed(agent, EVENT_TYPE));
  }

  /** Unless the screen, the task or the question has changed by then, or the pane has been left. Without hooks there is nothing to wait for. */
  #whenSettled(agent: Agent, act: () => void): void {
    if (!agent.hasHooks) {
      act();
      return;
    }
    const { clock } = this.#options;
    const { readiness, task, question } = agent;
    const timer = clock.callAt(clock.nowMs() + SCREEN_SETTLE_MS, () => {
      this.#settling.delete(agent);
      const isSame = agent.readiness === readiness && agent.task === task && agent.question === question;
      if (!isSame) return;
      if (agent.answer === undefined) act();
      else this.#changedMeanwhile.add(agent);
    });
    this.#settling.set(agent, timer);
  }
}

/** For a pane that is seen for the first time, unknown is no change. */
const isChange = (before: Readiness | undefined, now: Readiness): boolean =>
  (before?.state ?? "unknown") !== now.state || before?.dialog?.id !== now.dialog?.id;

/** Whether the profile is of one program. */
export const knowsProgram = (profile: string): boolean => profile !== "shell" && profile !== "generic";

const isConclusive = (agent: Agent, { profile }: Readiness): boolean => !agent.hasHooks || knowsProgram(profile);

/** A notification's words say less than the dialog that it is about. */
const baseOf = (question: OpenQuestion): OpenQuestion =>
  question.tool === undefined && question.dialogId === undefined ? { ...question, text: "" } : question;
