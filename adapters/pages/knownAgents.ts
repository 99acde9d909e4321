/** The catalogue of agents as far as a page needs it, as it was when the page was bundled (bundlePage.mjs). */
interface KnownAgent {
  readonly name: string;
  /** As it stands on a button. */
  readonly label: string;
  /** It goes on with a session of its own in a terminal. */
  readonly resumes: boolean;
  /** It is the program of `sdk` sessions. */
  readonly converses: boolean;
  /** It can be made to report to the dashboard. */
  readonly reports: boolean;
}

declare const KNOWN_AGENTS: readonly KnownAgent[];
export const AGENTS = KNOWN_AGENTS;
