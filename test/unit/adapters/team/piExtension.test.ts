/** What the extension registers (docs/contracts/team.md §4). */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { FakePiHost } from "../../../fixtures/team/fakePiHost.ts";

const tools = [...new FakePiHost({ env: {} }).tools.values()];

const ROOT = resolve(import.meta.dirname, "../../../..");

test("the tools, with names that models take", () => {
  expect(tools.map(({ name }) => name)).toEqual([
    ..."team_tmux_start team_tmux_list team_tmux_attach team_tmux_capture team_tmux_send team_tmux_wait".split(" "),
    ..."team_tmux_interrupt team_tmux_kill team_tmux_restart".split(" "),
  ]);
  for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]+$/);
});

test("parameters are closed object schemas in plain JSON", () => {
  for (const { parameters } of tools) {
    expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
    expect(JSON.parse(JSON.stringify(parameters))).toEqual(parameters);
  }
  const named = tools.map(({ parameters }) => [Object.keys(parameters.properties), parameters.required]);
  expect(named).toEqual([
    [["taskPrompt", "threadId", "sessionPrefix", "cwd", "lines", "title", "agent"], ["taskPrompt"]],
    [["sessionPrefix"], undefined],
    [["sessionName"], ["sessionName"]],
    [["sessionName", "lines", "threadId"], ["sessionName"]],
    [
      ["sessionName", "message", "when", "ttlSec", "wait", "timeoutMs"],
      ["sessionName", "message"],
    ],
    [["sessionName", "for", "stalledSec", "timeoutMs"], ["sessionName"]],
    [["sessionName"], ["sessionName"]],
    [["sessionName"], ["sessionName"]],
    [["sessionName"], ["sessionName"]],
  ]);
});

test("what is loaded into pi needs no package and nothing native", () => {
  const seen = new Set<string>();
  const outside = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const source = readFileSync(file, "utf8").replaceAll(/^import type [^;]+;/gm, "");
    for (const [, specifier = ""] of source.matchAll(/\bfrom "([^"]+)"/g)) {
      if (specifier.startsWith(".")) visit(join(dirname(file), specifier));
      else if (!specifier.startsWith("node:")) outside.add(specifier);
    }
  };
  visit(join(ROOT, "adapters/team/piExtension.ts"));
  visit(join(ROOT, "adapters/team/readyHook.ts"));
  expect([...outside]).toEqual([]);
  expect([...seen].some((file) => file.endsWith("teamd.ts"))).toBe(true);
});
