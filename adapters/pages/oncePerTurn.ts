/** However often it is requested in a turn, `run` is called once, after the turn. */
export function oncePerTurn(run: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      run();
    });
  };
}
