/**
 * Which page of a profile is the device: the one that holds a Web Lock, and the next in line when it goes. Where there are no
 * locks (a page that came by plain HTTP from another machine) each page tries, and the server lets the newest be it.
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
  /** Another page is; `onOwner` comes when it has gone. */
  readonly onMirror: () => void;
}

export function elect({ locks, onOwner, onMirror }: ElectionOptions): void {
  if (locks === undefined) {
    onOwner();
    return;
  }
  // Held until the page goes.
  const hold = (): Promise<void> => {
    onOwner();
    return new Promise(() => undefined);
  };
  const isFree = locks.request(OWNER, { ifAvailable: true }, (lock) => {
    if (lock !== null) return hold();
    onMirror();
    return locks.request(OWNER, hold);
  });
  // Only a page that is being closed has its requests refused.
  isFree.catch(() => undefined);
}

/** One page of the profile at a time; where there are no locks, whoever comes. */
export function oneAtATime(
  locks: Locks | undefined,
  name: string,
): <Result>(run: () => Promise<Result>) => Promise<Result> {
  return (run) => (locks === undefined ? run() : locks.request(name, run));
}
