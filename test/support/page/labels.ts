/** Whoever controls a page by voice says what is written on a button: its name has to hold that (WCAG 2.5.3). */
import type { Page } from "playwright-core";

/** In the page. Signs are no words. */
const READ = `(() => {
  const words = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}]+/gu, "");
  const written = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (!(node instanceof HTMLElement) || node.ariaHidden === "true" || !node.checkVisibility()) return "";
    if (node.getBoundingClientRect().width <= 1) return "";
    return [...node.childNodes].map(written).join(" ");
  };
  const named = [...document.querySelectorAll(":is(button, a[href], summary, [role])[aria-label]")];
  return named
    .filter((element) => element.matches("button, a, summary, [role=button], [role=tab], [role=link]"))
    .map((element) => [element.ariaLabel, written(element).trim()])
    .filter(([name, text]) => !words(name).includes(words(text)));
})()`;

/** Names and texts of the buttons and links of which that is not so. */
export const misnamed = (page: Page): Promise<readonly (readonly [string, string])[]> =>
  page.evaluate<readonly (readonly [string, string])[]>(READ);
