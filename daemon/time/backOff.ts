/** How long to wait before a retry. */
interface Bounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** Doubles with every try. @param tries before this one */
export const backOffMs = (tries: number, { minMs, maxMs }: Bounds): number => Math.min(maxMs, minMs * 2 ** tries);

/** The same for one of many clients: half of it is random, so that they do not reconnect at once. @param random from 0 to 1 */
export const spreadBackOffMs = (tries: number, bounds: Bounds, random = Math.random()): number =>
  backOffMs(tries, bounds) * (0.5 + random / 2);
