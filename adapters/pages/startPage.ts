/** Begins a page: where it draws, when it draws, its own keys, and when it retries. */

interface PageParts {
  readonly draw: (root: Element) => void;
  /** In the capture phase: before a pane gets the key. */
  readonly onKey: (event: KeyboardEvent) => void;
  /** The network is back, or the page is visible again: time for a retry. */
  readonly onReturn: () => void;
}

/** Returns a function that has the page drawn once after the turn, however often it is called in it. */
export function startPage({ draw, onKey, onReturn }: PageParts): () => void {
  const root = document.querySelector("#page");
  if (root === null) throw new Error("the document has no place for the page");
  root.replaceChildren();
  document.addEventListener("keydown", onKey, { capture: true });
  globalThis.addEventListener("online", onReturn);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") onReturn();
  });
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      draw(root);
    });
  };
}
