/** The commands that people and agents run most often (`frequentMain.ts`). */
const FREQUENT_NAMES = ["ls", "send", "capture", "wait", "run"] as const;
export type FrequentName = (typeof FREQUENT_NAMES)[number];

export const isFrequent = (name: string | undefined): name is FrequentName =>
  (FREQUENT_NAMES as readonly (string | undefined)[]).includes(name);
