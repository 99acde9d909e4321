/** Reading a source in tests: everything from a position on, and the moment a condition on it holds. */
import type { OutputListener, OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { Gap } from "../../../protocol/position.ts";

/** Of which a test replaces what it listens for. */
export const DEAF: OutputListener = {
  advanced: () => undefined,
  gap: () => undefined,
  exited: () => undefined,
  closed: () => undefined,
};

/** Hands every byte from `from` on to `onBytes`, now and as it arrives; gaps to `onGap`. Returns the unsubscribe function. */
export function follow(
  source: OutputSource,
  from: number,
  onBytes: (bytes: Uint8Array) => void,
  onGap: (gap: Gap) => void = (gap) => {
    throw new Error(`gap ${JSON.stringify(gap)}`);
  },
): () => void {
  let at = from;
  const readOn = (): void => {
    for (;;) {
      const slice = source.read(at);
      if (slice.kind === "end") return;
      if (slice.kind === "gap") {
        at = slice.gap.to;
        onGap(slice.gap);
      } else {
        at = slice.to;
        onBytes(slice.bytes);
      }
    }
  };
  const unsubscribe = source.subscribe({ ...DEAF, advanced: readOn, gap: readOn });
  readOn();
  return unsubscribe;
}

/** Resolves with all bytes from `from` on as soon as `done` holds for them. The test's own time-out ends a vain wait. */
export function collectUntil(source: OutputSource, from: number, done: (bytes: Buffer) => boolean): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let unsubscribe: () => void = () => undefined;
    let settled = false;
    const check = (): void => {
      const all = Buffer.concat(chunks);
      if (settled || !done(all)) return;
      settled = true;
      unsubscribe();
      resolve(all);
    };
    unsubscribe = follow(
      source,
      from,
      (bytes) => {
        chunks.push(Buffer.from(bytes));
        check();
      },
      (gap) => reject(new Error(`gap ${JSON.stringify(gap)}`)),
    );
    check();
    if (settled) unsubscribe();
  });
}

/** Resolves when `text` (bytes as latin1 or UTF-8 text) has been seen after `from`. */
export const seen = (source: OutputSource, from: number, text: string): Promise<Buffer> =>
  collectUntil(source, from, (bytes) => bytes.includes(text));
