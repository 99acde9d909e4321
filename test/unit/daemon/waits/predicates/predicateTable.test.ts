/** What is derived from the table of predicates, and that the contract names what cannot be derived. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, test } from "vitest";
import { waitCommand } from "../../../../../adapters/commands/operations/waitCommand.ts";
import { openApiDocument } from "../../../../../adapters/native/openapi.ts";
import type { Predicate } from "../../../../../daemon/waits/predicates/predicate.ts";
import { PREDICATES } from "../../../../../daemon/waits/predicates/predicateTable.ts";
import { FakeReadiness } from "../../../../support/agents/fakeReadiness.ts";
import { FakeWaitPane } from "../../../../support/tmux/fakeWaitPane.ts";
import { errorOf, literal, turns, waitBench } from "../waitFixture.ts";

const rows: readonly Predicate[] = PREDICATES;

interface Properties {
  readonly properties: Readonly<Record<string, { readonly description?: string; readonly items?: Properties }>>;
}

test("names and fields are each one's own", () => {
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  expect(new Set(rows.map(({ field }) => field)).size).toBe(rows.length);
});

test.each(rows.map((row) => [row.name, row] as const))(
  "%s is in OpenAPI, on the command line and in the contract",
  (_, row) => {
    const { paths } = openApiDocument("1") as { readonly paths: Readonly<Record<string, { readonly post?: object }>> };
    const wait = paths["/v1/servers/{server}/panes/{pane}/wait"]?.post as {
      readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: Properties } } };
    };
    const { properties } = wait.requestBody.content["application/json"].schema;
    expect(properties[row.field]?.description).toMatch(/\.$/);
    expect(properties["anyOf"]?.items?.properties).toHaveProperty(row.field);
    for (const flag of row.flags) expect(waitCommand.options).toContainEqual(flag);
    const contract = readFileSync(join(import.meta.dirname, "../../../../../docs/contracts/native.md"), "utf8");
    expect(contract).toMatch(new RegExp(`^\`\\{(?:pattern\\?.* )?${row.field}\\?`, "m"));
  },
);

test("a request without any of them is refused, and told which there are", async () => {
  const { source, waits } = waitBench();
  expect((await errorOf(waits.wait(source, { exit: false }))).message).toBe(
    `a wait needs a predicate: ${rows.map(({ name }) => name).join(", ")}`,
  );
});

const rowOf = (field: string): Predicate => rows.find((row) => row.field === field)!;

test.each<[string, Readonly<Record<string, unknown>>, readonly unknown[]]>([
  ["pattern", {}, []],
  ["pattern", { text: "a", "ignore-case": true }, [{ literal: "a" }]],
  ["pattern", { regex: "a" }, [{ regex: "a" }]],
  ["pattern", { text: "a", regex: "b", "ignore-case": true }, [{ literal: "a" }, { regex: "b", ignoreCase: true }]],
  ["stableSec", {}, []],
  ["stableSec", { stable: 2 }, [2]],
  ["exit", {}, []],
  ["exit", { exit: true }, [true]],
  ["ready", {}, []],
  ["ready", { ready: "busy" }, ["busy"]],
  ["title", {}, []],
  ["title", { title: "a" }, [{ regex: "a" }]],
  ["cursorStillSec", {}, []],
  ["cursorStillSec", { cursor: 2 }, [2]],
])("%s by the flags %j is %j", (field, given, asked) => {
  const flags = {
    flag: (name: string) => given[name] === true,
    text: (name: string) => given[name] as string | undefined,
    number: (name: string) => given[name] as number | undefined,
  };
  expect(rowOf(field).asked(flags)).toEqual(asked);
});

test.each<[string, unknown, unknown]>([
  ["stableSec", 0.01, 0.01],
  ["stableSec", 0.009, undefined],
  ["stableSec", 3_600, 3_600],
  ["stableSec", 3_601, undefined],
  ["cursorStillSec", 0.01, 0.01],
  ["cursorStillSec", 0.009, undefined],
  ["cursorStillSec", 3_600, 3_600],
  ["cursorStillSec", 3_601, undefined],
  ["ready", true, "idle"],
  ["ready", "busy", "busy"],
  ["ready", false, undefined],
  ["exit", 1, undefined],
])("%s as a client sends it, %j, is %j", (field, sent, taken) => {
  const { success, output } = v.safeParse(rowOf(field).schema, sent);
  expect(success ? output : undefined).toBe(taken);
});

test.each(["stableSec", "cursorStillSec"])("%s may be as long as the longest wait, and no longer", async (field) => {
  const { source, waits } = waitBench({ maxTimeoutSec: 10 });
  const pane = new FakeWaitPane(source);
  expect((await errorOf(waits.wait(source, { [field]: 10.01, pane }))).details).toMatchObject({
    max: 10,
    value: 10.01,
  });
  const { signal } = new AbortController();
  waits.wait(source, { [field]: 10, pane }, { signal }).catch(() => undefined);
  expect(waits.metrics().wait_active).toBe(1);
});

test("a timeout tells what held, and for how long", async () => {
  const { source, waits, clock } = waitBench();
  const progressOf = async (request: Parameters<typeof waits.wait>[1]): Promise<unknown> => {
    const wait = errorOf(waits.wait(source, { ...request, timeoutMs: 2_000 }));
    await turns();
    clock.advanceMs(1_000);
    await turns();
    clock.advanceMs(1_000);
    return (await wait).details?.["predicates"];
  };
  const never = literal("never");
  const pane = new FakeWaitPane(source);
  const program = new FakeReadiness("busy");
  expect(await progressOf({ ...never, stableSec: 2 })).toMatchObject({ stable: { satisfied: true, quietMs: 2_000 } });
  expect(await progressOf({ ...never, stableSec: 2.001 })).toMatchObject({ stable: { satisfied: false } });
  expect(await progressOf({ stableSec: 1, exit: true })).toEqual({
    stable: { satisfied: false, quietMs: 2_000 },
    exit: false,
  });
  const still = { satisfied: true, stillMs: 1_000 };
  expect(await progressOf({ ...never, cursorStillSec: 1, pane })).toMatchObject({ cursor: still });
  expect(await progressOf({ ...never, cursorStillSec: 3, pane })).toMatchObject({ cursor: { satisfied: false } });
  expect(await progressOf({ ...never, ready: "busy", pane: program.pane })).toMatchObject({ ready: true });
  expect(await progressOf({ ready: "idle", pane: program.pane })).toEqual({ ready: false });
  source.end({ exitCode: 0 });
  expect(await progressOf({ ...never, stableSec: 1, exit: true })).toMatchObject({
    stable: { satisfied: true },
    exit: true,
  });
});
