/** What a person sees of a device's layout: read from the document of its page. */
import type { Page } from "playwright-core";

export interface Shown {
  readonly revision: number;
  /** Titles in their order; a star is behind the one whose panes are shown. */
  readonly tabs: readonly string[];
  /** Of that tab, by id: left, top, width and height in percent, and what is in it; a star is behind the active one. */
  readonly panes: Readonly<Record<string, string>>;
}

/** In the page. */
const READ = `(() => {
  const percent = (text) => Math.round(Number.parseFloat(text) * 100) / 100;
  const content = (pane) => {
    const terminal = pane.querySelector(".terminal-pane");
    if (terminal !== null) return "terminal " + terminal.dataset.terminal;
    if (pane.querySelector(".browser-pane") !== null) return "browser " + pane.querySelector(".address a").getAttribute("href");
    if (pane.querySelector(".editor-pane") !== null) return "editor " + pane.querySelector(".path").textContent;
    return pane.querySelector(".picker") === null ? "other" : "picker";
  };
  const tabs = [...document.querySelectorAll(".tab")].map((tab) =>
    tab.querySelector(".tab-title").firstChild.data + (tab.classList.contains("active") ? " *" : ""));
  const boxes = [...document.querySelectorAll(".space:not([hidden]) > .pane-box")].map((box) => {
    const { left, top, width, height } = box.style;
    const place = box.hidden ? "hidden" : [left, top, width, height].map(percent).join(" ");
    const active = box.querySelector(".pane.active") === null ? "" : " *";
    return [box.dataset.pane, place + " " + content(box) + active];
  });
  const { revision } = document.querySelector(".device").dataset;
  return { revision: Number(revision), tabs, panes: Object.fromEntries(boxes) };
})()`;

export const shownBy = (page: Page): Promise<Shown> => page.evaluate<Shown>(READ);
