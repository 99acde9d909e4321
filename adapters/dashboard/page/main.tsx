/** Joins the parts: the page, its connection, the document. */
import { render } from "preact";
import { systemClock } from "../../../daemon/time/clock.ts";
import { oncePerTurn } from "../../pages/oncePerTurn.ts";
import { onReturn } from "../../pages/onReturn.ts";
import { createApi } from "./net/api.ts";
import { Page } from "./page.ts";
import { App } from "./ui/app.tsx";
import { handleKey } from "./ui/handleKey.ts";
import { Notifier } from "./ui/notifier.ts";
import { keepFocus } from "./ui/focus.ts";
import { titleText } from "./words/stateWords.ts";
import { askingCards } from "./model/pageState.ts";

const root = document.querySelector("#page");
if (root === null) throw new Error("the document has no place for the page");

const api = createApi((input, init) => globalThis.fetch(input, init));
const notifier = new Notifier((agentId) => {
  page.update({ selectedId: agentId });
  document.querySelector<HTMLElement>(`#agent-${agentId}`)?.focus();
});

root.replaceChildren();
const draw = (): void => {
  const { state } = page;
  document.title = titleText(askingCards(state.agents).length);
  notifier.keep(state.agents);
  const refocus = keepFocus(document);
  render(<App state={state} page={page} api={api} notifier={notifier} />, root);
  refocus();
};

const page: Page = new Page({
  api,
  clock: systemClock,
  nowUnixMs: () => Date.now(),
  random: () => Math.random(),
  newKey: randomKey,
  onChange: oncePerTurn(draw),
  onAsking: (card) => notifier.asking(card),
});
notifier.onChange = () => page.update({});

/** `crypto.randomUUID` is missing on pages loaded over plain HTTP from another machine. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// In the capture phase: before a controlled pane takes the key.
document.addEventListener("keydown", (event) => handleKey(event, page), { capture: true });
onReturn(() => page.retryNow());

draw();
page.start();
