/** The description is made from the table: every endpoint is in it, every reference leads somewhere. */
import * as v from "valibot";
import { expect, test } from "vitest";
import { createNativeApp } from "../../../../adapters/native/nativeApp.ts";
import { ENDPOINTS } from "../../../../adapters/native/endpoints.ts";
import { openApiDocument } from "../../../../adapters/native/openapi.ts";
import { EXAMPLE_WINDOW } from "../../../../adapters/operations/examples.ts";
import { silentLog } from "../../../../bench/silentLog.ts";
import { WaitManager } from "../../../../daemon/waits/waitManager.ts";
import { parseLayout } from "../../../../protocol/windowLayout.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: { readonly [status: string]: object };
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: object } } };
  readonly security?: unknown;
}

interface Document {
  readonly servers: readonly object[];
  readonly openapi: string;
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: { readonly schemas: object };
}

const document = openApiDocument("1.2.3") as Document;
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const operation = (id: string): Operation => operations.find((each) => each.operationId === id)!;

test("is OpenAPI 3.1 with every endpoint once", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(operations.map((each) => each.operationId).sort()).toEqual(ENDPOINTS.map((each) => each.id).sort());
  for (const { path, id } of ENDPOINTS) {
    const named = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]);
    const inPath = operation(id).parameters.filter((parameter) => parameter.in === "path");
    expect(inPath.map((parameter) => parameter.name)).toEqual(named);
  }
});

test("every reference leads to a schema, and every schema to a type", () => {
  const text = JSON.stringify(document);
  for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    expect(document.components.schemas).toHaveProperty(name!);
  }
  expect(text).not.toContain("$schema");
  for (const { id, body } of ENDPOINTS) {
    if (body === undefined) continue;
    expect(operation(id).requestBody?.content["application/json"].schema).toMatchObject({ type: "object" });
  }
});

test("tells bodies, queries, statuses and who needs the token", () => {
  expect(operation("input").requestBody?.content["application/json"].schema).toMatchObject({
    properties: { parts: { type: "array", minItems: 1, maxItems: 256 } },
    required: ["parts"],
    additionalProperties: false,
  });
  expect(operation("capture").parameters.map((parameter) => parameter.name)).toEqual(
    "server pane lines joined ansi".split(" "),
  );
  expect(operation("follow").parameters.map((parameter) => parameter.name)).toContain("Last-Event-ID");
  expect(Object.keys(operation("createSession").responses)).toEqual(
    expect.arrayContaining(["201", "401", "409", "413"]),
  );
  expect(operation("wait").responses["408"]).toMatchObject({ description: "TIMEOUT" });
  expect([operation("livez").security, operation("metrics").security]).toEqual([[], [{ bearer: [] }]]);
  expect(document.servers).toMatchObject([{ url: "/" }]);
});

/** Where an object of the description stands in it, and every object in it. */
function* objectsIn(value: unknown, at: string): Generator<readonly [at: string, object: Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
  for (const [name, member] of Object.entries(value)) {
    // Examples are not description.
    if (name !== "example") yield* objectsIn(member, `${at}/${name}`);
  }
}

test("every field of every schema, and every parameter, says what it is", () => {
  const silent: string[] = [];
  let fields = 0;
  const isSaid = (text: unknown): boolean => typeof text === "string" && /^[A-Z`].*\.$/.test(text);
  for (const [at, object] of objectsIn(document, "")) {
    if (typeof object["in"] === "string" && !isSaid(object["description"]))
      silent.push(`${at} ${String(object["name"])}`);
    const { properties } = object;
    if (typeof properties !== "object" || properties === null || at.endsWith("/properties")) continue;
    for (const [name, field] of Object.entries(properties as Record<string, { description?: unknown }>)) {
      fields += 1;
      if (!isSaid(field.description)) silent.push(`${at}/${name}`);
    }
  }
  expect(silent).toEqual([]);
  expect(fields).toBeGreaterThan(300);
});

test("every operation is shown by an example that its schemas take", () => {
  for (const { id, method, body, query, response, example } of ENDPOINTS) {
    const { parameters, responses, requestBody } = operation(id) as Operation & {
      requestBody?: { content: { "application/json": { example?: unknown } } };
    };
    for (const each of parameters.filter((parameter) => parameter.in !== "query")) {
      expect([id, each]).toMatchObject([id, { example: expect.any(String) as string }]);
    }
    const input = body ?? query;
    if (input !== undefined) v.parse(input, example.input);
    if (method === "POST") expect(requestBody?.content["application/json"].example).toEqual(example.input);
    if (typeof response === "object") v.parse(response, example.output);
    const [status = "", shown] = Object.entries(responses).find(([code]) => /^(?:2|101)/.test(code)) ?? [];
    if (status === "101") continue;
    const [content, ...asText] = Object.entries((shown as { content: object }).content);
    expect([id, content?.[1]]).toMatchObject([id, { example: example.output }]);
    for (const text of asText) expect(text).toMatchObject(["text/plain", { example: expect.any(String) as string }]);
  }
  expect(parseLayout(EXAMPLE_WINDOW.layout)).toEqual(EXAMPLE_WINDOW.root);
});

test("is served", async () => {
  const clock = new FakeClock();
  const { app } = createNativeApp({
    servers: new Map(),
    waits: new WaitManager({ clock }),
    clock,
    log: silentLog,
    version: "9",
  });
  const response = await app.request(
    "http://localhost/v1/openapi.json",
    { headers: { host: "localhost" } },
    { incoming: { socket: { remoteAddress: "127.0.0.1" } } },
  );
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual(openApiDocument("9"));
});
