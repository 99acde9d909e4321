/**
 * Reads a tool's arguments as a model writes them, and returns them as the API has them: the flat forms that the tools offer
 * (`modelSchema.ts`), the API's own, and what models get wrong where only one thing can be meant. What is not understood is
 * left as it is, for the error that teaches.
 */
import type { GenericSchema } from "valibot";
import { type Fields, fieldsOf, isFields } from "../../../protocol/text/jsonObject.ts";
import { jsonSchema } from "../../serving/jsonSchema.ts";

export function modelInput({ name, input }: { readonly name: string; readonly input: GenericSchema }, given: unknown) {
  const fields = fieldsOf(given ?? {});
  if (fields === undefined) return given;
  const members = membersOf(input);
  const named = renamed(fields, members, name.endsWith("_agent") || name === "tell");
  return typed(FORMS[name]?.(named) ?? named, members);
}

type Members = Readonly<Record<string, Fields>>;

const membersKnown = new WeakMap<GenericSchema, Members>();

function membersOf(input: GenericSchema): Members {
  const members = membersKnown.get(input) ?? (jsonSchema(input, "input")["properties"] as Members);
  membersKnown.set(input, members);
  return members;
}

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
/** Of tools for an agent: its name, or the pane in which it runs. */
const AGENT_CALLED: Readonly<Record<string, readonly string[]>> = {
  ...CALLED,
  name: ["agent"],
  pane: ["agent"],
  session: ["agent"],
  id: ["agent"],
};

function renamed(fields: Fields, members: Members, isForAgent: boolean): Fields {
  const called = isForAgent && members["agent"] !== undefined ? AGENT_CALLED : CALLED;
  const entries = Object.entries(fields).map(([name, value]) => {
    if (Object.hasOwn(members, name)) return [name, value];
    const meant = called[name]?.find((other) => Object.hasOwn(members, other) && !Object.hasOwn(fields, other));
    return [meant ?? name, value];
  });
  return Object.fromEntries(entries) as Fields;
}

/** Numbers and booleans in quotes. */
function typed(fields: Fields, members: Members): Fields {
  const entries = Object.entries(fields).map(([name, value]) => [name, typedValue(members[name]?.["type"], value)]);
  return Object.fromEntries(entries) as Fields;
}

function typedValue(type: unknown, value: unknown): unknown {
  if (typeof value !== "string") return value;
  if ((type === "integer" || type === "number") && /^\d{1,15}(?:\.\d{1,6})?$/.test(value)) return Number(value);
  return type === "boolean" && (value === "true" || value === "false") ? value === "true" : value;
}

/** The forms of one tool. */
const FORMS: Readonly<Record<string, (fields: Fields) => Fields>> = {
  wait: (fields) => {
    const { anyOf, send, ...set } = fields;
    return {
      ...predicates(set),
      ...(anyOf === undefined ? {} : { anyOf: Array.isArray(anyOf) ? anyOf.map(predicates) : anyOf }),
      ...(send === undefined ? {} : { send: isFields(send) ? withParts(send) : send }),
    };
  },
  search: (fields) => withPattern(fields, (text, flags) => ({ literal: text, ...flags })),
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

/** `text`, or `regex`, with its flags, in place of `pattern`; and a title that is a text. */
function predicates(set: unknown): Fields {
  if (!isFields(set)) return set as Fields;
  const { title } = set;
  const named = title === undefined ? set : { ...set, title: typeof title === "string" ? { literal: title } : title };
  // In a wait, only regular expressions can be told to ignore the case.
  return withPattern(named, (text, flags) =>
    flags["ignoreCase"] === true && typeof text === "string"
      ? { ...flags, regex: text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`) }
      : { literal: text },
  );
}

function withPattern(fields: Fields, plain: (text: unknown, flags: Fields) => Fields): Fields {
  const { pattern = {}, ...others } = fields;
  const nested = typeof pattern === "string" ? { text: pattern } : pattern;
  if (!isFields(nested)) return fields;
  const { text, literal = text, regex, ignoreCase, multiline, dotAll, ...rest } = { ...others, ...nested };
  if (literal === undefined && regex === undefined) return fields;
  const flags = withoutUndefined({ ignoreCase, multiline, dotAll });
  // Both at once: the schema's error says so.
  if (literal !== undefined && regex !== undefined) return { ...rest, pattern: { literal, regex } };
  return { ...rest, pattern: literal === undefined ? { regex, ...flags } : plain(literal, flags) };
}

/** `text`, `paste`, `keys` and `enter`, typed in this order; or `parts` in any. */
function withParts(fields: Fields): Fields {
  const { parts } = fields;
  if (parts !== undefined) return { ...fields, parts: Array.isArray(parts) ? parts.flatMap(partsOf) : parts };
  const made = partsOf(fields);
  const { text: _text, paste: _paste, keys: _keys, enter: _enter, ...rest } = fields;
  return made.length === 0 || made[0] === fields ? fields : { ...rest, parts: made };
}

function partsOf(part: unknown): readonly unknown[] {
  if (!isFields(part) || part["kind"] !== undefined) return [part];
  const { text, paste, keys, enter } = part;
  const made = [
    ...(text === undefined ? [] : [{ kind: "text", text }]),
    ...(paste === undefined ? [] : [{ kind: "paste", text: paste }]),
    // No key's name has a blank.
    ...(keys === undefined ? [] : [{ kind: "keys", keys: typeof keys === "string" ? keys.split(/\s+/) : keys }]),
    ...(enter === true ? [{ kind: "enter" }] : []),
  ];
  return made.length === 0 ? [part] : made;
}

/** A command line in place of a list of arguments. */
function withArguments(fields: Fields): Fields {
  const { command } = fields;
  if (typeof command !== "string") return fields;
  return { ...fields, command: /^[\w./-]+$/.test(command) ? [command] : ["sh", "-c", command] };
}

/** `option`, `options` of each question, or `other`, in place of `answer`. */
function withAnswer(fields: Fields): Fields {
  const { option, options, other, ...rest } = fields;
  if (rest["answer"] !== undefined) return fields;
  if (option !== undefined) return { ...rest, answer: { kind: "option", index: typedValue("integer", option) } };
  if (options !== undefined) {
    const isOne = Array.isArray(options) && options.every((each) => typeof each === "number");
    return { ...rest, answer: { kind: "multi", answers: isOne ? [options] : options } };
  }
  return other === undefined ? fields : { ...rest, answer: { kind: "other", text: other } };
}

const withoutUndefined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
