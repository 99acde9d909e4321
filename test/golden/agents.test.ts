/**
 * Every recorded screen of every agent program (`agents/PROGRAM/VERSION/*.md`, made by `agents/record.mjs`) is judged as the
 * engine judges it: found to be that program's and in the state that it was in. `idle` for anything else is the one mistake
 * that makes a prompt answer a question, so a screen may be judged `unknown` only where its section says so (`judged:`).
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ReadinessEngine } from "../../daemon/readiness/engine.ts";
import { FakeClock } from "../support/clock/fakeClock.ts";
import { ReadinessServer, rest } from "../support/agents/readinessServer.ts";
import { judgeRecorded, type RecordedScreen, readRecordedScreens } from "../../daemon/readiness/recordedScreens.ts";
import { profileNamed, PROFILES } from "../support/agents/agentCatalogue.ts";

const directory = join(import.meta.dirname, "agents");
const folders = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

const recorded = folders(directory).map((program) => ({
  program,
  versions: folders(join(directory, program)).map((version) => ({
    version,
    screens: readdirSync(join(directory, program, version)).flatMap((file) =>
      readRecordedScreens(readFileSync(join(directory, program, version, file), "utf8")),
    ),
  })),
}));

/** Longer than any doubt about a title, shorter than a program at work is silent. */
const JUDGED_MS = 1_000;

async function judged({ command, title, lines, cursor, cols, rows }: RecordedScreen, profile?: string) {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const engine = new ReadinessEngine({
    profiles: PROFILES,
    clock,
    nowUnixMs: () => 0,
    onError: (error) => errors.push(error),
  });
  const tmux = Object.assign(new ReadinessServer(), { command, title, lines, cursor, size: { cols, rows } });
  try {
    const pane = engine.watch(tmux.server, tmux.pane, profile === undefined ? {} : { profile });
    for (let passed = 0; passed < JUDGED_MS; passed += 20) {
      clock.advanceMs(20);
      await rest();
    }
    expect(errors).toEqual([]);
    return pane.current;
  } finally {
    engine.close();
  }
}

/** `shell` and `generic` are about no one program; real shells are tried in `test/live/readinessShells.test.ts`. */
const agents = PROFILES.all.filter(({ kind }) => kind === "agent");

test.each(agents)("$name is recorded in the versions that its profile names", ({ name, source, seenWith }) => {
  const versions = recorded.find(({ program }) => program === name)?.versions ?? [];
  expect(versions.map(({ version }) => version).sort()).toEqual([...seenWith].sort());
  expect(versions.filter(({ screens }) => screens.length === 0)).toEqual([]);
  expect(source).toBe("recorded");
  expect(versions.length).toBeGreaterThanOrEqual(2);
});

test("nothing is recorded of a program without a profile", () => {
  const names = new Set(agents.map(({ name }) => name));
  expect(recorded.filter(({ program }) => !names.has(program))).toEqual([]);
});

describe.each(recorded)("$program", ({ program, versions }) => {
  describe.each(versions)("$version", ({ screens }) => {
    test.each(screens)("$name: $state", async (screen) => {
      const { state, dialog } = await judged(screen, program);
      expect(state).toBe(screen.judged);
      expect(judgeRecorded(profileNamed(program), screen)).toBe(screen.judged);
      expect(dialog?.options.map(({ label }) => label) ?? []).toEqual(screen.labels);
      expect(dialog?.options.every(({ keys }) => keys.length > 0) ?? true).toBe(true);
      // What went by is no part of the question.
      expect(dialog?.text.split("\n").filter((row) => row !== "") ?? []).toEqual(screen.question);
      if (screen.state === "asking") expect([screen.labels, screen.question]).not.toContainEqual([]);
      // What is to be run is: `record.mjs` has a command run there.
      if (screen.name === "asks to run a command") expect(dialog?.text).toContain("touch made-by-test");
    });

    test("is told by its name, or by its title and what it draws under an interpreter's name", () => {
      for (const { command, title, lines, name } of screens) {
        const isReported = PROFILES.guess({ command, title, rows: lines }).name;
        // Where neither its name nor its title is there yet, nobody else may be found.
        const fits = command === "node" || command === "sh" ? ["generic", "shell", program] : [program];
        expect(fits.map((fit) => `${name}: ${fit}`)).toContain(`${name}: ${isReported}`);
      }
    });
  });
});
