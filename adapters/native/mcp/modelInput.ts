/**
 * Reads a tool's arguments as a model writes them, and returns them as the API has them: the flat forms that the tools offer
 * (`modelSchema.ts`), the API's own, and what models get wrong where only one thing can be meant. What is not understood is
 * left as it is, for the error that teaches.
 */
import type { GenericSchema } from "valibot";
import { type AppError, invalidArgument } from "../../../protocol/errors.ts";
import { type Fields, fieldsOf, isFields } from "../../../protocol/text/jsonObject.ts";
import { type SchemaMember, schemaMembers, valueOfText } from "../../operations/schemaMembers.ts";

/** @throws AppError INVALID_ARGUMENT: two forms of one thing at once */
export function modelInput({ name, input }: { readonly name: string; readonly input: GenericSchema }, given: unknown) {
  const fields = fieldsOf(given ?? {});
  if (fields === undefined) return given;
  const members = schemaMembers(input);
  const named = renamed(fields, members, FOR_AGENTS.has(name) ? AGENT_CALLED : CALLED);
  const formed = FORMS[name]?.(named) ?? named;
  const entries = Object.entries(formed).map(([member, value]) => [member, typed(value, members.get(member)?.kind)]);
  return Object.fromEntries(entries) as Fields;
}

/** Numbers and booleans in quotes. */
const typed = (value: unknown, kind: SchemaMember["kind"] | undefined): unknown =>
  typeof value === "string" ? valueOfText(value, kind) : value;

/** What models call members that have other names here: the first of those that the tool has is meant. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  session: ["pane", "name"],
  session_name: ["pane", "name"],
  sessionName: ["pane", "name"],
  target: ["pane"],
  paneId: ["pane"],
  pane_id: ["pane"],
  cmd: ["command"],
  directory: ["cwd"],
  env: ["environment"],
  message: ["text"],
  prompt: ["text"],
  timeout_ms: ["timeoutMs"],
};
/** Tools for an agent that is there: it is found by its name or id, which a pane's or a session's is not. */
const FOR_AGENTS: ReadonlySet<string> = new Set(["tell", "wait_agent", "answer_agent", "interrupt_agent", "end_agent"]);
const AGENT_CALLED: Readonly<Record<string, readonly string[]>> = {
  name: ["agent"],
  id: ["agent"],
  message: ["text"],
  prompt: ["text"],
  timeout_ms: ["timeoutMs"],
};

function renamed(fields: Fields, members: ReadonlyMap<string, SchemaMember>, called: typeof CALLED): Fields {
  const entries = Object.entries(fields).map(([name, value]) => {
    if (members.has(name) || !Object.hasOwn(called, name)) return [name, value];
    const meant = called[name]?.find((other) => members.has(other) && !Object.hasOwn(fields, other));
    return [meant ?? name, value];
  });
  return Object.fromEntries(entries) as Fields;
}

/** The forms of one tool. */
const FORMS: Readonly<Record<string, (fields: Fields) => Fields>> = {
  wait: (fields) => {
    const { anyOf, send, ...set } = fields;
    return {
      ...predicates(set),
      ...(anyOf === undefined ? {} : { anyOf: Array.isArray(anyOf) ? anyOf.map(predicatesOf) : anyOf }),
      ...(send === undefined ? {} : { send: isFields(send) ? withParts(send) : send }),
    };
  },
  search: (fields) => withPattern(fields, (literal, rest) => ({ literal, ...rest })),
  send: (fields) => withParts(fields),
  create: (fields) => withArguments(fields),
  split: (fields) => withArguments(fields),
  choose: (fields) => withAnswer(fields),
  answer_agent: (fields) => withAnswer(fields),
  wait_agent: ({ for: wanted, ...rest }) => ({
    ...rest,
    ...(wanted === undefined ? {} : { for: typeof wanted === "string" ? [wanted] : wanted }),
  }),
};

const predicatesOf = (set: unknown): unknown => (isFields(set) ? predicates(set) : set);

/** `text`, or `regex`, with its flags, in place of `pattern`; and a title that is a text. */
function predicates(set: Fields): Fields {
  const { title } = set;
  return withPattern(typeof title === "string" ? { ...set, title: { literal: title } } : set, (literal, rest) => {
    const { ignoreCase = false, ...others } = rest;
    if (ignoreCase === false) return { literal, ...others };
    // In a wait, only regular expressions can be told to ignore the case.
    const isPlain = typeof literal === "string" && Object.keys(others).length === 0;
    return isPlain ? { regex: escaped(literal), ignoreCase } : { literal, ...rest };
  });
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

const PATTERN = ["text", "literal", "regex", "ignoreCase", "multiline", "dotAll"];

/** @param plain the pattern for a text, with the flags that came with it */
function withPattern(fields: Fields, plain: (text: unknown, flags: Fields) => Fields): Fields {
  const { pattern, ...others } = fields;
  const [flat, rest] = parted(others, PATTERN);
  refuseBoth("pattern", pattern, flat);
  const nested = typeof pattern === "string" ? { text: pattern } : (pattern ?? flat);
  if (!isFields(nested) || Object.keys(nested).length === 0) return fields;
  const { text, literal, ...flags } = nested;
  if (text !== undefined && literal !== undefined) throw bothOf("text", "literal");
  const wanted = text ?? literal;
  if (wanted === undefined) return { ...rest, pattern: flags };
  if (flags["regex"] !== undefined) throw bothOf(text === undefined ? "literal" : "text", "regex");
  return { ...rest, pattern: plain(wanted, flags) };
}

const TYPED = ["text", "paste", "keys", "enter"];

/** `text`, `paste`, `keys` and `enter`, typed in this order; or `parts` in any. */
function withParts(fields: Fields): Fields {
  const { parts, ...others } = fields;
  const [flat, rest] = parted(others, TYPED);
  refuseBoth("parts", parts, flat);
  if (parts !== undefined) return { ...fields, parts: Array.isArray(parts) ? parts.flatMap(partsOf) : parts };
  const made = partsTyped(flat);
  return made.length === 0 ? fields : { ...rest, parts: made };
}

function partsOf(part: unknown): readonly unknown[] {
  if (!isFields(part) || part["kind"] !== undefined) return [part];
  const [flat, rest] = parted(part, TYPED);
  const made = Object.keys(rest).length === 0 ? partsTyped(flat) : [];
  return made.length === 0 ? [part] : made;
}

function partsTyped({ text, paste, keys, enter = false }: Fields): readonly unknown[] {
  const isPressed = typed(enter, "flag");
  if (typeof isPressed !== "boolean") throw invalidArgument("enter: must be true or false");
  return [
    ...(text === undefined ? [] : [{ kind: "text", text }]),
    ...(paste === undefined ? [] : [{ kind: "paste", text: paste }]),
    // No key's name has a blank.
    ...(keys === undefined ? [] : [{ kind: "keys", keys: typeof keys === "string" ? keys.trim().split(/\s+/) : keys }]),
    ...(isPressed ? [{ kind: "enter" }] : []),
  ];
}

/** A command line in place of a list of arguments. */
function withArguments(fields: Fields): Fields {
  const { command } = fields;
  if (typeof command !== "string") return fields;
  return { ...fields, command: /^[\w./-]+$/.test(command) ? [command] : ["sh", "-c", command] };
}

const ANSWERS = ["option", "options", "other"];

/** `option`, `options` of each question, or `other`, in place of `answer`. */
function withAnswer(fields: Fields): Fields {
  const { answer, ...others } = fields;
  const [given, rest] = parted(others, ANSWERS);
  refuseBoth("answer", answer, given);
  const [first, second] = Object.keys(given);
  if (first === undefined) return fields;
  if (second !== undefined) throw bothOf(first, second);
  const { option, options, other } = given;
  if (option !== undefined) return { ...rest, answer: { kind: "option", index: typed(option, "number") } };
  if (other !== undefined) return { ...rest, answer: { kind: "other", text: other } };
  if (!Array.isArray(options) || !options.every(Array.isArray)) {
    // Several of one question, or one of each: nobody knows.
    const such = "such as [[0, 2]] for two options of one question, [[0], [2]] for one of each of two";
    throw invalidArgument(`options: must be a list of each question's indexes, ${such}`);
  }
  return { ...rest, answer: { kind: "multi", answers: options } };
}

/** Those members, and the others. */
function parted(fields: Fields, names: readonly string[]): readonly [Fields, Fields] {
  const entries = Object.entries(fields);
  return [
    Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  ];
}

function refuseBoth(name: string, value: unknown, flat: Fields): void {
  const [other] = Object.keys(flat);
  if (value !== undefined && other !== undefined) throw bothOf(other, name);
}

const bothOf = (one: string, other: string): AppError =>
  invalidArgument(`${one}: give \`${one}\` or \`${other}\`, not both`);
