/** Carries out the page's own keys (`model/shortcuts`) on the document. */
import { isComposing } from "../../../pages/composing.ts";
import type { AgentCard } from "../model/agentCard.ts";
import type { KeyPlace } from "../model/shortcuts.ts";
import { shortcutFor } from "../model/shortcuts.ts";
import { optionForDigit } from "../model/answers.ts";
import { canPrompt, needOf } from "../model/order.ts";
import { neighbour, nextAsking, target as meantCard } from "../model/pageState.ts";
import type { Page } from "../page.ts";
import { FILTER_ID } from "./listBar.tsx";
import { releaseControl } from "./control.ts";
import { type Focus, TEXT_PLACES } from "./focus.ts";

export function handleKey(event: KeyboardEvent, page: Page, focus: Focus): void {
  if (isComposing(event)) return;
  const place = placeOf(event.target);
  if (focus.isWrittenOn(event, place)) return;
  const shortcut = shortcutFor(event, place);
  if (shortcut === undefined || ownsArrows(event)) return;
  const done = (): void => {
    event.preventDefault();
    event.stopPropagation();
  };
  switch (shortcut.kind) {
    case "next":
      done();
      return select(page, neighbour(page.state, 1));
    case "previous":
      done();
      return select(page, neighbour(page.state, -1));
    case "asking":
      done();
      return select(page, nextAsking(page.state));
    case "details":
      done();
      return page.update({ detailsId: meantCard(page.state)?.agent_id });
    case "timeline":
      done();
      return openTimeline(page, meantCard(page.state));
    case "templates":
      done();
      return openTemplates(page, meantCard(page.state));
    case "filter":
      done();
      return document.querySelector<HTMLElement>(`#${FILTER_ID}`)?.focus();
    case "start":
      done();
      return page.update({ startOpen: true });
    case "option":
      if (chooseDigit(page, shortcut.digit)) done();
      return;
    case "text":
      if (focusText(page)) done();
      return;
    case "pane":
      done();
      return togglePane(page);
    case "help":
      done();
      return page.update({ helpOpen: true });
    case "leave":
      return leave(page, event);
    case "release":
      if (releaseControl()) done();
      return;
  }
}

/** Among radio buttons the arrows choose. */
const ownsArrows = ({ key, target }: KeyboardEvent): boolean =>
  key.startsWith("Arrow") && target instanceof HTMLInputElement && target.type === "radio";

function placeOf(element: EventTarget | null): KeyPlace {
  if (!(element instanceof Element)) return "page";
  // Also where the focus has gone with a field of it.
  if (document.querySelector("dialog:modal") !== null) return "dialog";
  if (element.closest(".screen.controlled") !== null) return "pane";
  // Keys typed at a pane without control are meant for the pane: they must not answer anything.
  if (element.closest(".pane") !== null) return "text";
  return element.closest(TEXT_PLACES) === null ? "page" : "text";
}

function select(page: Page, agentId: number | undefined): void {
  if (agentId === undefined) return;
  page.update({ selectedId: agentId });
  const card = cardElement(agentId);
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
}

/** Ticks a checkbox, sends an option, or moves the focus to the text of "other". */
function chooseDigit(page: Page, digit: string): boolean {
  const card = meantCard(page.state);
  if (card === undefined || needOf(card) !== "asking") return false;
  const option = optionForDigit(card.question, digit);
  if (option === undefined) return false;
  cardElement(card.agent_id)?.querySelector<HTMLElement>(`[data-option="${option.index}"]`)?.click();
  return true;
}

function focusText(page: Page): boolean {
  const card = meantCard(page.state);
  if (card === undefined) return false;
  if (canPrompt(card)) {
    openPrompt(page, card.agent_id);
    return true;
  }
  const field = document.querySelector<HTMLElement>(`#agent-${card.agent_id}-text`);
  field?.focus();
  return field !== null;
}

/** Of an agent whose process is known, else everybody's. */
export function openTimeline(page: Page, card: AgentCard | undefined): void {
  page.update({
    timelineOpen: true,
    timelineId: card === undefined || card.running === null ? undefined : card.agent_id,
  });
}

/** Opens the box for a prompt, ready to be written in. */
export function openPrompt(page: Page, agentId: number): void {
  page.update({ promptingId: agentId });
  // Behind the page, which is drawn at the end of this turn.
  queueMicrotask(() => document.querySelector<HTMLElement>(`#agent-${agentId}-prompt`)?.focus());
}

/** Of an agent that takes prompts. */
function openTemplates(page: Page, card: AgentCard | undefined): void {
  if (card === undefined || !canPrompt(card)) return;
  page.update({ templates: { agentId: card.agent_id, field: `agent-${card.agent_id}-prompt` } });
}

function togglePane(page: Page): void {
  const card = meantCard(page.state);
  if (card === undefined || card.tmux_pane_id === null || card.far?.awaySinceUnixMs !== undefined) return;
  page.update({ openPaneId: page.state.openPaneId === card.agent_id ? undefined : card.agent_id });
}

function leave(page: Page, event: KeyboardEvent): void {
  const element = event.target instanceof Element ? event.target : undefined;
  // A dialog closes itself.
  if (placeOf(event.target) === "dialog") return;
  const card = element?.closest<HTMLElement>("[data-agent]");
  if (placeOf(event.target) === "text" && card !== null && card !== undefined) {
    event.preventDefault();
    card.focus();
    page.update({ promptingId: undefined });
    return;
  }
  const { openPaneId } = page.state;
  if (openPaneId === undefined) return;
  event.preventDefault();
  page.update({ openPaneId: undefined });
  cardElement(openPaneId)?.focus();
}

const cardElement = (agentId: number): HTMLElement | null => document.querySelector<HTMLElement>(`#agent-${agentId}`);
