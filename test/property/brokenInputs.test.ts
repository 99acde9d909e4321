/** Inputs that an operation or a contract refuses: each message says where, and what it must be, in words of ours. */
import fc from "fast-check";
import type { GenericSchema } from "valibot";
import { expect, test } from "vitest";
import { createTerminalSchema, freshellWaitSchema } from "../../protocol/api/freshell/freshellHttp.ts";
import { RPC_ARGS } from "../../protocol/api/freshell/rpcCommands.ts";
import { teamSendSchema, teamStartSchema, teamWaitSchema } from "../../protocol/api/team.ts";
import { OPERATIONS } from "../../adapters/operations/operationTable.ts";
import { streamRequestSchema } from "../../protocol/api/native/nativeStream.ts";
import { matches, parse } from "../../protocol/api/parse.ts";

const SEED = 34;
const RUNS = 1_000;

/** The members of schemas that are read here. */
interface Node {
  readonly type: string;
  readonly wrapped?: Node;
  readonly entries?: Readonly<Record<string, Node>>;
  readonly options?: readonly unknown[];
  readonly item?: Node;
  readonly value?: Node;
  readonly literal?: unknown;
}

const OBJECTS = [{}, { x: 1 }, { kind: "x" }, { kind: "keys" }, { text: "x" }, { literal: 1, regex: "x" }];
const LISTS = [[], [[]], [null], ["x", 7]];
const TEXTS = ["", "x", "7", "true", "idel", "keys C-c", "/", "x".repeat(9_000)];
const WRONG = [null, true, false, 0, -1, 1.5, 7, 1e15, Number.NaN, ...TEXTS, ...LISTS, ...OBJECTS];
const NAMES = ["x", "session", "text", "timeout", "pane", "", "constructor", "a.b", "né", "long".repeat(300)];

const wrong = fc.constantFrom(...WRONG);
const named = (name: string, value: unknown, among: object = {}): object => ({ ...among, [name]: value });
const without = (name: string, among: object): object =>
  Object.fromEntries(Object.entries(among).filter(([each]) => each !== name));
/** One letter less. */
const misspelt = (names: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...NAMES, ...names.map((name) => name.slice(1)), ...names.map((name) => name.slice(0, -1)));

/** Mostly broken. */
function broken(node: Node, sample: unknown): fc.Arbitrary<unknown> {
  const { wrapped, entries, options = [], item, value } = node;
  if (wrapped !== undefined) return broken(wrapped, sample);
  if (entries !== undefined) return brokenObject(entries, Object(sample ?? {}) as Record<string, unknown>);
  if (node.type === "union" || node.type === "variant") {
    const forms = (options as readonly Node[]).map((option) => broken(option, sampleOf(option)));
    const mixed = fc.constant(Object.assign({}, ...(options as readonly Node[]).map(sampleOf)));
    return fc.oneof(wrong, mixed, ...forms);
  }
  if (item !== undefined) {
    const [first = sampleOf(item)] = Array.isArray(sample) ? (sample as unknown[]) : [];
    return fc.oneof(
      wrong,
      broken(item, first).map((each) => [first, each]),
    );
  }
  return value === undefined
    ? wrong
    : fc.oneof(
        wrong,
        broken(value, "x").map((each) => named("name", each)),
      );
}

function brokenObject(
  entries: Readonly<Record<string, Node>>,
  sample: Readonly<Record<string, unknown>>,
): fc.Arbitrary<unknown> {
  const names = Object.keys(entries);
  const members = names.map((name) =>
    broken(entries[name]!, sample[name] ?? sampleOf(entries[name]!)).map((each) => named(name, each, sample)),
  );
  return fc.oneof(
    wrong,
    fc.tuple(misspelt(names), wrong).map(([name, each]) => named(name, each, sample)),
    fc
      .tuple(misspelt(names), fc.constantFrom("", ...names))
      .map(([name, gone]) => named(name, 1, without(gone, sample))),
    fc.constantFrom("", ...names).map((name) => without(name, sample)),
    ...members,
  );
}

/** A value that a schema may take: it has what is needed. */
function sampleOf({ type, wrapped, entries, options = [], item, literal }: Node): unknown {
  if (wrapped !== undefined) return sampleOf(wrapped);
  if (entries !== undefined) {
    const needed = Object.entries(entries).filter(([, member]) => !/optional|nullish/.test(member.type));
    return Object.fromEntries(needed.map(([name, member]) => [name, sampleOf(member)]));
  }
  if (item !== undefined) return [sampleOf(item)];
  if (type === "picklist") return options[0];
  if (type === "union" || type === "variant") return sampleOf(options[0] as Node);
  return type === "literal" ? literal : type === "number" ? 1 : type === "boolean" ? true : "x";
}

const LIBRARY = /\b(?:Expected|Invalid|[Rr]eceived|never)\b|Object but/;
/** What is said of a rule that the words do not know. */
const UNKNOWN_RULE = /that is (?:not )?allowed/;

function messageOf(schema: GenericSchema, input: unknown): string {
  try {
    parse(schema, input);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it was accepted");
}

/** Messages that do not name an argument, or are not for people. */
function unfit(schema: GenericSchema, example: unknown): readonly string[] {
  const node = schema as unknown as Node;
  const forms = [node, ...((node.options ?? []) as readonly Node[])];
  const names = forms.flatMap(({ entries = {} }) => Object.keys(entries));
  const refused = broken(node, example).filter((input) => !matches(schema, input));
  const messages = fc.sample(refused, { numRuns: RUNS, seed: SEED }).map((input) => messageOf(schema, input));
  expect(messages).toHaveLength(RUNS);
  return messages.filter((message) => {
    const [place = ""] = message.split(/[.:]/, 1);
    const isPlaced = names.includes(place) || /^(?:there is no argument `|the request must be )/.test(message);
    const isOurs = !LIBRARY.test(message) && !UNKNOWN_RULE.test(message);
    return !isPlaced || !isOurs || message.length > 700 || message.includes("\n");
  });
}

test.each(Object.entries(OPERATIONS))("%s", (_name, { input, example }) => {
  expect(unfit(input, example.input)).toEqual([]);
});

test("a message of the WebSocket", () => {
  const example = { type: "input", id: 1, server: "main", pane: "%5", parts: [{ kind: "enter" }] };
  expect(unfit(streamRequestSchema, example)).toEqual([]);
});

const CONTRACTS = {
  ...RPC_ARGS,
  createTerminalSchema,
  freshellWaitSchema,
  teamSendSchema,
  teamStartSchema,
  teamWaitSchema,
};

test.each(Object.entries(CONTRACTS))("of the other contracts, %s", (_name, schema) => {
  expect(unfit(schema, sampleOf(schema as unknown as Node))).toEqual([]);
});
