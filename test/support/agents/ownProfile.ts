/** A profile as a user makes one: a copy of a file below `adapters/agents`, without `source`, as docs/profiles.md says to begin. */
import claude from "../../../adapters/agents/claude/profile.json" with { type: "json" };

const { source: _source, seenWith: _seenWith, ...base } = claude;

export const ownProfile = {
  ...base,
  name: "mine",
  seenWith: ["1.0"],
  programs: ["mine"],
  titleHints: [],
  signatures: [],
  titles: [],
};
