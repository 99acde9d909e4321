/** Joins the parts: the page, its connection, the document. */
import { render } from "preact";
import { systemClock } from "../../../daemon/time/clock.ts";
import { startPage } from "../../pages/startPage.ts";
import { createApi } from "./net/api.ts";
import { socketStream } from "./net/socketStream.ts";
import { Page } from "./page.ts";
import { App } from "./ui/app.tsx";
import { handleKey } from "./ui/handleKey.ts";
import { Notifier } from "./ui/notifier.ts";
import { Focus } from "./ui/focus.ts";
import { titleText } from "./words/stateWords.ts";
import { askingCards } from "./model/pageState.ts";

const api = createApi(
  (input, init) => globalThis.fetch(input, init),
  (path, signal) => socketStream(path, signal, systemClock),
);
const notifier: Notifier = new Notifier({
  api,
  onPick: (agentId) => {
    page.update({ selectedId: agentId });
    document.querySelector<HTMLElement>(`#agent-${agentId}`)?.focus();
  },
  onChange: () => page.update({}),
});

const focus = new Focus(document, systemClock);
const redraw = startPage({
  draw: (root) => {
    const { state } = page;
    document.title = titleText(askingCards(state.agents).length);
    notifier.keep(state.agents);
    const refocus = focus.keep();
    render(<App state={state} page={page} api={api} notifier={notifier} />, root);
    refocus();
  },
  onKey: (event) => handleKey(event, page, focus),
  onReturn: () => page.retryNow(),
});

const page: Page = new Page({
  api,
  clock: systemClock,
  nowUnixMs: () => Date.now(),
  random: () => Math.random(),
  newKey: randomKey,
  onChange: redraw,
  onAsking: (card) => notifier.asking(card),
});

/** `crypto.randomUUID` is missing on pages loaded over plain HTTP from another machine. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

redraw();
page.start();
