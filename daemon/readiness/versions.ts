/** Versions of programs as dotted numbers. What follows the numbers (`-beta.1`, `+build`) does not count. */

const NUMBERS = /^v?(\d{1,9}(?:\.\d{1,9}){0,7})/;
const COMPARISON = /^(>=|<=|>|<|=)(\d{1,9}(?:\.\d{1,9}){0,7})$/;

/** Negative: `a` is the older one. Numbers that are missing count as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

export const newestOf = (versions: readonly string[]): string | undefined =>
  versions.reduce<string | undefined>(
    (newest, one) => (newest === undefined || compareVersions(one, newest) > 0 ? one : newest),
    undefined,
  );

/** Comparisons that all have to hold, separated by blanks: `>=2.1.300 <3`. */
export const isRange = (text: string): boolean => text.split(" ").every((part) => COMPARISON.test(part));

/** @param range as in `isRange` */
export const isInRange = (version: string, range: string): boolean =>
  range.split(" ").every((part) => {
    const [, comparison, bound = ""] = COMPARISON.exec(part) ?? [];
    const order = compareVersions(version, bound);
    switch (comparison) {
      case ">=":
        return order >= 0;
      case "<=":
        return order <= 0;
      case ">":
        return order > 0;
      case "<":
        return order < 0;
      case "=":
        return order === 0;
      case undefined:
      default:
        return false;
    }
  });

const numbersOf = (version: string): readonly number[] => (NUMBERS.exec(version)?.[1] ?? "0").split(".").map(Number);
