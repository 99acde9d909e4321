/** The name a person most likely meant: one with this prefix, or one that differs in at most two letters. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given === "") return undefined;
  const starting = names.filter((name) => name.startsWith(given));
  if (starting.length === 1) return starting[0];
  // A name that is much longer or shorter cannot be near, so it is not compared.
  const scored = names
    .filter((name) => Math.abs(name.length - given.length) <= MAX_DISTANCE && name.length <= MAX_NAME)
    .map((name) => ({ name, distance: editDistance(given, name) }))
    .sort((a, b) => a.distance - b.distance);
  const best = scored[0];
  return best !== undefined && best.distance <= MAX_DISTANCE && best.distance < given.length ? best.name : undefined;
}

const MAX_DISTANCE = 2;
const MAX_NAME = 64;

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
