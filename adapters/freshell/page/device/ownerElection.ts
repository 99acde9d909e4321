/**
 * Which page of a profile is the device: the one that holds a Web Lock, then the next in line. Without locks (a page loaded
 * over plain HTTP from another machine) each page tries, and the server accepts the newest.
 */

interface Locks {
  request<Result>(name: string, run: () => Promise<Result> | Result): Promise<Result>;
  request<Result>(
    name: string,
    options: { readonly ifAvailable: true },
    run: (lock: unknown) => Promise<Result> | Result,
  ): Promise<Result>;
}

const OWNER = "freshell.owner";

interface ElectionOptions {
  readonly locks: Locks | undefined;
  readonly onOwner: () => void;
  /** Another page is the device; `onOwner` follows when it has gone. */
  readonly onMirror: () => void;
}

export function elect({ locks, onOwner, onMirror }: ElectionOptions): void {
  if (locks === undefined) {
    onOwner();
    return;
  }
  // Held until the page closes.
  const hold = (): Promise<void> => {
    onOwner();
    return new Promise(() => undefined);
  };
  const isFree = locks.request(OWNER, { ifAvailable: true }, (lock) => {
    if (lock !== null) return hold();
    onMirror();
    return locks.request(OWNER, hold);
  });
  // Lock requests are rejected only when the page is closing.
  isFree.catch(() => undefined);
}

/** A mutex across the profile's pages; without locks, no exclusion. */
export function oneAtATime(
  locks: Locks | undefined,
  name: string,
): <Result>(run: () => Promise<Result>) => Promise<Result> {
  return (run) => (locks === undefined ? run() : locks.request(name, run));
}
