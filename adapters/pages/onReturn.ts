/** The network is back, or somebody looks at the page again: what was given up for a while is worth another try. */
export function onReturn(run: () => void): void {
  globalThis.addEventListener("online", run);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") run();
  });
}
