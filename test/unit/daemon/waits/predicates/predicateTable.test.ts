/** What is derived from the table of predicates, and that the contract names what cannot be derived. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitCommand } from "../../../../../adapters/commands/operations/waitCommand.ts";
import { openApiDocument } from "../../../../../adapters/native/openapi.ts";
import type { Predicate } from "../../../../../daemon/waits/predicates/predicate.ts";
import { PREDICATES } from "../../../../../daemon/waits/predicates/predicateTable.ts";
import { errorOf, waitBench } from "../waitFixture.ts";

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
