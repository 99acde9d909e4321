/** The result of a probe of the system; undefined if it threw, because its object is gone or not readable for us. */
export function attempt<T>(probe: () => T): T | undefined {
  try {
    return probe();
  } catch {
    return undefined;
  }
}
