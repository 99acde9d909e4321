/** How long something lasts. It alone is drawn again as the time goes on, not what it stands in. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ageText } from "../words/age.ts";

/** The server's time (unix ms), to the second. */
export const Now = createContext(0);

interface AgeProps {
  readonly since: number;
  /** Around the duration. */
  readonly words?: (age: string) => string;
}

export function Age({ since, words }: AgeProps) {
  const age = ageText(since, useContext(Now));
  return <>{words === undefined ? age : words(age)}</>;
}
