/** The documents name what a caller can meet. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TEAM_START_OUTCOMES } from "../../../../protocol/api/team.ts";

const page = (name: string): string => readFileSync(join(import.meta.dirname, "../../../../docs", name), "utf8");

test("every outcome and every field of a start is in the contract", () => {
  const contract = page("contracts/team.md");
  for (const outcome of TEAM_START_OUTCOMES) expect(contract).toContain(`\`${outcome}\``);
  for (const word of ["outcome", "reason", "dead", "exitStatus", "worker_not_found", "PI_TEAM_THREAD_ID"]) {
    expect(contract).toContain(word);
  }
});

test("what a worker needs and how a lease is claimed are told", () => {
  const text = page("team.md");
  for (const word of "team.passEnvironment PI_TEAM_THREAD_ID team_threads_post team_tasks_claim resources".split(" ")) {
    expect(text).toContain(word);
  }
});
