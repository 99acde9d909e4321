/** Versions as dotted numbers, ranges of them, and which of several profiles with one name is for which version. */
import { describe, expect, test } from "vitest";
import claude from "../../../../adapters/agents/claude/profile.json" with { type: "json" };
import { loadProfile, type Profile } from "../../../../daemon/readiness/profile.ts";
import { isNewFor, Profiles } from "../../../../daemon/readiness/profiles.ts";
import { compareVersions, isInRange, isRange, newestOf } from "../../../../daemon/readiness/versions.ts";

test.each([
  ["2.1.330", "2.1.330", 0],
  ["2.1.9", "2.1.10", -1],
  ["2.10", "2.9.9", 1],
  ["3", "2.99.99", 1],
  ["2.1", "2.1.0", 0],
  ["v1.2", "1.2", 0],
  ["1.2.3-beta.4", "1.2.3", 0],
  ["1.2.3+5", "1.2.4-rc", -1],
  ["nightly", "0.0.1", -1],
])("%s beside %s: %i", (a, b, order) => {
  expect([Math.sign(compareVersions(a, b)), Math.sign(compareVersions(b, a))]).toEqual([
    order,
    order === 0 ? 0 : -order,
  ]);
});

test("the newest is no matter of letters or of order", () => {
  expect([newestOf(["0.9.10", "0.23.4", "0.10.2"]), newestOf([])]).toEqual(["0.23.4", undefined]);
});

test.each([
  [">=2.1.300 <3", ["2.1.300", "2.9"], ["2.1.299", "3", "3.0.1"]],
  [">2", ["2.0.1", "3"], ["2", "1.9"]],
  ["<=2.1", ["2.1", "2.1.0", "1"], ["2.1.1"]],
  ["=2.1", ["2.1.0-beta"], ["2.1.1"]],
])("%s holds some versions and not others", (range, those, others) => {
  expect(isRange(range)).toBe(true);
  expect([those.filter((one) => !isInRange(one, range)), others.filter((one) => isInRange(one, range))]).toEqual([
    [],
    [],
  ]);
});

test.each(["", "2.1", "^2.1", ">=2.1, <3", ">= 2", ">=x", ">=2  <3"])(
  "%j is no range: a profile is refused",
  (range) => {
    expect(isRange(range)).toBe(false);
    expect(() => loadProfile({ ...claude, versions: range })).toThrow(/^versions: not a range/);
  },
);

describe("of several profiles with one name", () => {
  const profile = (id: string, versions?: string, seenWith: readonly string[] = []): Profile =>
    loadProfile({
      ...claude,
      seenWith: [...seenWith],
      signatures: [id],
      ...(versions === undefined ? {} : { versions }),
    });
  const chosen = (own: readonly Profile[], agents: readonly Profile[], version?: string): string =>
    new Profiles(agents, own).named("claude", version).signatures[0]!.source;
  const ours = profile("ours", undefined, ["2.1.330"]);
  const ranges = [profile("old", "<2", ["1.9"]), profile("new", ">=2", ["2.0"])];

  test.each([
    ["the one whose range holds the version", [], ranges, "1.5", "old"],
    ["the one whose range holds the version", [], ranges, "2.1", "new"],
    ["without a version the one for all", [profile("mine", ">=2")], [ours], undefined, "ours"],
    ["without a version and without one for all the newest", [], ranges, undefined, "new"],
    ["outside all ranges the newest", [], [profile("a", "<1", ["0.9"]), profile("b", "<2", ["1.10"])], "3", "b"],
    ["a person's own, whose range holds it", [profile("mine", ">=2.1.340")], [ours], "2.1.340", "mine"],
    ["ours where the person's own does not hold it", [profile("mine", ">=2.1.340")], [ours], "2.1.330", "ours"],
    ["a person's own for all, whatever ours are for", [profile("mine")], ranges, "2.1", "mine"],
    ["a person's own with a range before ours with one", [profile("mine", ">=1")], ranges, "2.1", "mine"],
    [
      "a person's own with a range before their own for all",
      [profile("all"), profile("mine", ">2")],
      [],
      "2.1",
      "mine",
    ],
  ] as const)("%s", (_, own, agents, version, id) => {
    expect(chosen(own, agents, version)).toBe(id);
  });
});

test("a version is new for a profile that was tested with none as new", () => {
  const seen = loadProfile({ ...claude, seenWith: ["2.1.197", "2.1.330"] });
  expect(["2.1.331", "2.1.330", "2.1.200", "3.0.0-beta"].map((version) => isNewFor(seen, version))).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect(isNewFor(loadProfile({ ...claude, seenWith: [] }), "9")).toBe(false);
});
