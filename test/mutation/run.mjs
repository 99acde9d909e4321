/**
 * Do tests fail when the code is wrong? `npm run mutation -- [TARGET | FILE]...` changes one place of a target at a time, runs
 * the tests that reach it, and prints the changes that no test noticed and the share that one did. Without arguments, all
 * targets. Only fast tests take part: before a test is written for a survivor, see by hand whether a live one kills it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { Stryker } from "@stryker-mutator/core";

const ROOT = resolve(import.meta.dirname, "../..");
process.chdir(ROOT);
const ROOM = tmpdir();
/** Percent. */
const ENOUGH = 85;

const TARGETS = {
  control: {
    sources: ["protocol/control/"],
    tests: ["unit/protocol/control/", "property/{octal,parser}", "golden/golden"],
  },
  panes: {
    sources: ["daemon/panes/"],
    tests: ["unit/daemon/panes/", "unit/daemon/waits/echo/", "property/{outputRing,text}"],
  },
  echo: { sources: ["daemon/waits/echo/"], tests: ["unit/daemon/waits/echo/", "property/echoCuts"] },
  waits: {
    sources: [
      "daemon/waits/a",
      "daemon/waits/wait",
      "daemon/waits/predicates/",
      "daemon/waits/regex/",
      "daemon/waits/screen/",
      "daemon/waits/text/",
    ],
    tests: ["unit/daemon/waits/", "property/{waits,shortRegex,text}"],
  },
  delivery: { sources: ["daemon/delivery/"], tests: ["unit/daemon/delivery/", "contract/nativeDelivery"] },
  connection: {
    sources: ["daemon/connection/c", "daemon/connection/supervisor.ts"],
    tests: ["unit/daemon/connection/", "property/{commandQueue,supervisor}"],
  },
  servers: { sources: ["daemon/servers/listeners.ts"], tests: ["unit/daemon/servers/listeners"] },
  guard: {
    sources: ["adapters/kit/guard/", "adapters/kit/peers/addresses.ts"],
    tests: [
      "unit/adapters/kit/guard/",
      "contract/{addinTransport,nativeGuard,addinListener,dashboardListener,nativeHostile,deepJson,manyValues}",
    ],
  },
  streams: { sources: ["adapters/kit/streams/"], tests: ["unit/adapters/kit/streams/"] },
  listeners: {
    sources: ["adapters/kit/listeners/", "adapters/kit/peers/connections.ts", "adapters/kit/peers/peer"],
    tests: ["unit/adapters/kit/listeners/", "unit/adapters/kit/peers/", "contract/{addinListener,peerUsers}"],
  },
  kit: {
    sources: ["adapters/kit/trust/", "adapters/kit/pageFiles.ts"],
    tests: ["unit/adapters/kit/trust/", "unit/adapters/kit/pageFiles"],
  },
};

const wanted = process.argv.slice(2);
const failed = [];
for (const [name, { sources, tests }] of Object.entries(TARGETS)) {
  const files = wanted.filter((one) => sources.some((source) => one.startsWith(source)));
  if (wanted.length > 0 && files.length === 0 && !wanted.includes(name)) continue;
  // oxlint-disable-next-line no-await-in-loop -- each takes the whole machine
  const results = await mutate(files.length > 0 ? files : sources.map(ofFolder), tests);
  const score = report(name, results);
  if (score < ENOUGH) failed.push(`${name}: ${score.toFixed(1)} %, not ${ENOUGH}`);
}
if (failed.length > 0) {
  process.stderr.write(`${failed.join("\n")}\n`);
  process.exitCode = 1;
}

function ofFolder(source) {
  if (source.endsWith("/")) return `${source}**/*.ts`;
  return source.endsWith(".ts") ? source : `${source}*.ts`;
}

async function mutate(sources, tests) {
  process.env["MUTATION_TESTS"] = tests.join(" ");
  const temporary = mkdtempSync(join(ROOM, "tw-mutation-"));
  // What tests leave when they are ended with a changed place goes with it.
  process.env["TMPDIR"] = temporary;
  try {
    return await new Stryker({
      testRunner: "vitest",
      vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
      mutate: sources,
      mutator: { excludedMutations: ["StringLiteral"] },
      ignoreStatic: true,
      coverageAnalysis: "perTest",
      concurrency: Number(process.env["MUTATION_AT_A_TIME"] ?? 2),
      timeoutMS: 8_000,
      dryRunTimeoutMinutes: 30,
      // One that does not exist: reading the real one needs an interface that the compiler no longer has.
      tsconfigFile: "none",
      tempDirName: temporary,
      reporters: ["progress-append-only"],
      ignorePatterns: ["dist"],
      checkers: [],
      disableTypeChecks: false,
      allowConsoleColors: false,
    }).runMutationTest();
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @returns percent of the mutants whose code a test reaches, or could */
function report(name, results) {
  const killed = results.filter(({ status }) => status === "Killed" || status === "Timeout");
  const survived = results.filter(({ status }) => status === "Survived" || status === "NoCoverage");
  for (const { fileName, location, status, mutatorName, replacement } of survived) {
    const { line, column } = location.start;
    const change = replacement.replaceAll(/\s+/g, " ").slice(0, 100);
    process.stdout.write(`${status} ${relative(ROOT, fileName)}:${line}:${column} ${mutatorName}: ${change}\n`);
  }
  const score = (100 * killed.length) / Math.max(1, killed.length + survived.length);
  process.stdout.write(`${name}: ${score.toFixed(1)} % of ${killed.length + survived.length}\n`);
  return score;
}
