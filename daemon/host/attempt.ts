/** What a probe of the system found; undefined when it threw: what it looked for is gone, or not readable for us. */
export function attempt<T>(probe: () => T): T | undefined {
  try {
    return probe();
  } catch {
    return undefined;
  }
}
