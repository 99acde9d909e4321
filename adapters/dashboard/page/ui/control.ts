/** Who holds the keyboard: at most one pane, and a way to take it back that any key handler can call. */

let held: (() => void) | undefined;

/** `release` is called once, when another wants the keyboard. */
export function holdControl(release: () => void): void {
  releaseControl();
  held = release;
}

/** Returns whether it was held. */
export function releaseControl(): boolean {
  const release = held;
  held = undefined;
  release?.();
  return release !== undefined;
}

/** The holder gives it back by itself. */
export function endControl(release: () => void): void {
  if (held === release) held = undefined;
}
