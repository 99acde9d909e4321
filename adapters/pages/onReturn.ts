/** Runs when the network is back or the page is visible again: time for a retry. */
export function onReturn(run: () => void): void {
  globalThis.addEventListener("online", run);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") run();
  });
}
