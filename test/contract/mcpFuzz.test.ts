/** A thousand calls made from the tools' own schemas, some of them spoilt: each gets a result, none as a fault of ours. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { mcpOverHttp } from "../support/daemon/mcpClient.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

const CALLS = 1_000;
/** Some calls of each of these succeed: it is no fuzz when all are refused. */
const MUST_SUCCEED = ["list", "create", "send", "wait", "capture", "search", "kill"];
/** Names that there are, among those that there are not. */
const NAMES = ["work", "%0", "0", "$0", "@0", "main", "%9", "/", "C-c", "Enter", "now", "tail:5", "x"];
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NAMES) },
  fc.string({ unit: "grapheme", maxLength: 12 }),
);

const mostly = (usual: string, ...others: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, ...others.map((other) => fc.constant(other)));

/** Members that random words seldom hit. */
const LIKELY: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  server: mostly("main", "nowhere"),
  pane: mostly("work", "%0", "0", "$0", "nowhere"),
  from: mostly("now", "tail:5", "x"),
  base64: mostly("eA==", "!"),
  cwd: fc.constantFrom("/", "/nowhere", "."),
  size: fc.constantFrom(10, "30%", "x"),
  maxOutputBytes: fc.constantFrom(256, 4_096, 0),
  stableSec: fc.constantFrom(0.01, "0.01", -1),
  cursorStillSec: fc.constantFrom(0.01, 9_999),
  lines: fc.constantFrom(1, "20", 0),
  cols: fc.constantFrom(80, 0),
  rows: fc.constantFrom(24, 0),
  parts: fc.array(fc.constantFrom({ kind: "enter" }, { text: "x" }, { keys: "Up Enter" }, { kind: "x" }), {
    maxLength: 3,
  }),
  anyOf: fc.array(fc.constantFrom({ text: "x" }, { regex: "y$" }, { exit: true }, { gone: "x" }, {}), { maxLength: 3 }),
  send: fc.constantFrom({ text: "x", enter: true }, { keys: ["C-c"] }, { text: 1 }, {}),
};

function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  const either = schema.anyOf ?? schema.oneOf ?? (schema.enum === undefined ? undefined : []);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (either !== undefined) return fc.oneof(...either.map(valueOf));
  switch (schema.type) {
    case "object":
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties ?? {}).map(([name, member]) => [name, LIKELY[name] ?? valueOf(member)]),
        ),
        { requiredKeys: [...(schema.required ?? [])] },
      );
    case "array":
      return fc.array(valueOf(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 3 });
    case "integer":
    case "number":
      return fc.integer({ min: Math.ceil(schema.minimum ?? -5), max: Math.min(schema.maximum ?? 2_000, 2_000) });
    case "boolean":
      return fc.boolean();
    case "string":
      return word;
    case undefined:
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

test("random calls get results, and none is an internal error", async () => {
  const server = stubServer();
  await using api = await nativeFixture(server);
  await using mcp = await mcpOverHttp(`${api.url}/mcp`, "legacy");
  const { tools } = await mcp.client.listTools();
  const calls = fc.oneof(
    ...tools.map(({ name, inputSchema }) => ({
      weight: MUST_SUCCEED.includes(name) ? 3 : 1,
      arbitrary: fc
        .oneof(
          { weight: 4, arbitrary: valueOf(inputSchema as Schema) },
          fc.dictionary(word, fc.jsonValue({ maxDepth: 2 })),
        )
        .map((input) => ({ name, input: input as Record<string, unknown> })),
    })),
  );
  const seen = new Map<string, Set<string>>(tools.map(({ name }) => [name, new Set()]));
  for (const { name, input } of fc.sample(calls, { numRuns: CALLS, seed: 20 })) {
    if (server.findSession("work") === undefined) await server.createSession({ name: "work" });
    // What waits need not wait long for its result.
    const quick = ["wait", "run", "submit", "choose"].includes(name) ? { ...input, timeoutMs: 5 } : input;
    const { isError, content, structuredContent } = await mcp.raw(name, quick);
    const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
    const code = isError === true ? (/^([A-Z_]+): ./.exec(text)?.[1] ?? text) : "ok";
    expect([name, quick, code]).not.toEqual([name, quick, "INTERNAL_ERROR"]);
    expect(code).toMatch(/^(?:ok|[A-Z_]+)$/);
    if (isError !== true) expect(structuredContent).toBeDefined();
    seen.get(name)?.add(code);
  }
  for (const name of MUST_SUCCEED)
    expect([name, [...(seen.get(name) ?? [])]]).toEqual([name, expect.arrayContaining(["ok", "INVALID_ARGUMENT"])]);
});
