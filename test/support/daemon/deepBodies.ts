/** Bodies that are nested deeper than any parser of ours goes. */

export const LEVELS = [5_000, 10_000];
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
/** A body that is nested, one with a member that the route knows, one of objects. */
export const bodies = (levels: number, field: string, more: object = {}): readonly string[] => [
  nested(levels),
  `${JSON.stringify(more).replace(/\}$/, Object.keys(more).length === 0 ? "" : ",")}"${field}":${nested(levels)}}`,
  `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`,
];
