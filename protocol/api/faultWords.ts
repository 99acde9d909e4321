/**
 * What is wrong with a value that a schema refuses, in words for whoever sent it: the place, what it must be there, and for
 * an unknown name the one that was probably meant. The schema library says only what it has received; messages that a
 * schema has of its own are kept.
 */
import type * as v from "valibot";
import { type Fields, isFields } from "../text/jsonObject.ts";
import { CALLED_NAMES, nameFor, nearestName } from "../text/nearestName.ts";

export interface Fault {
  /** Of the value at fault; for an unknown name, of the object that has it. Undefined: the whole value. */
  readonly path: string | undefined;
  readonly message: string;
  readonly unknown?: UnknownName | undefined;
}

interface UnknownName {
  readonly path: string;
  readonly nearest: string | undefined;
}

type Issue = v.BaseIssue<unknown>;
type Path = readonly v.IssuePathItem[];
/** The first issue of a value. */
type Judge = (schema: v.GenericSchema, value: unknown) => Issue | undefined;

/** The parser gives this as the message of an issue whose schema has none of its own. */
export const UNSAID = "";

/** The members of schemas that are read. */
export interface Node {
  readonly type: string;
  readonly wrapped?: Node;
  readonly options?: readonly unknown[];
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly items?: readonly Node[];
  /** Of a record, the schema of its names; of a variant, the member that says which form is meant. */
  readonly key?: Node | string;
  readonly value?: Node;
  readonly literal?: unknown;
  readonly pipe?: readonly Step[];
}
type Step = Node & { readonly kind: string; readonly requirement?: unknown };

/** Longer ones are cut: a caller may send any name. */
const MAX_NAME_CHARS = 64;
/** More names than these are not listed. */
const MAX_LISTED = 16;
/** More members of an object than these are not shown. */
const MAX_SHOWN = 6;
const OBJECTS: ReadonlySet<string> = new Set(["object", "strict_object", "loose_object"]);

/** The place and what is wrong there. `whole` is what the value is called. */
export function faultText({ path, message }: Pick<Fault, "path" | "message">, whole = "the request"): string {
  if (path !== undefined) return `${path}: ${message}`;
  return /^(?:must|is) /.test(message) ? `${whole} ${message}` : message;
}

/** @param noun what a member of the whole value is called */
export function faultOf(schema: v.GenericSchema, issue: Issue, judge: Judge, noun = "argument"): Fault {
  const root = schema as unknown as Node;
  const { path: places = [] } = issue;
  const path = pathOf(places);
  if (issue.message !== UNSAID) return { path, message: issue.message };
  const last = places.at(-1);
  if (last === undefined) return valueFault([root], issue, path, judge);
  const above = places.slice(0, -1);
  const nodes = nodesAt(root, places);
  const isMember = issue.kind === "schema" && OBJECTS.has(issue.type) && last.origin === "key";
  const isKind = issue.type === "variant" && !nodes.some((node) => has(node, "variant"));
  if (!isMember && last.origin === "key")
    return { path: pathOf(above), message: `names ${valueFault(nodes, issue, path, judge).message}` };
  if (!isMember && !isKind) return valueFault(nodes, issue, path, judge);
  // The library takes an array for an object without members.
  if (Array.isArray(last.input)) return { path: pathOf(above), message: "must be a JSON object, not a list" };
  const parents = nodesAt(root, above);
  if (isKind) return { path, message: kindMessage(parents, String(last.key), issue.input) };
  const of = { path: pathOf(above), noun: above.length === 0 ? noun : "member", given: fieldsIn(last.input) };
  return memberFault(parents, String(last.key), issue.expected === "never", of);
}

interface Members {
  readonly path: string | undefined;
  readonly noun: string;
  readonly given: Fields;
}

const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : {});

/** A name that there is not, or one that is missing. */
function memberFault(parents: readonly Node[], name: string, isUnknown: boolean, of: Members): Fault {
  const objects = parents.flatMap((node) => objectsIn(node, of.given));
  const { entries = {} } = objects.find((object) => Object.hasOwn(object.entries ?? {}, name) !== isUnknown) ?? {};
  const path = joined(of.path, shortened(name));
  const free = Object.keys(entries).filter((each) => !Object.hasOwn(of.given, each));
  if (isUnknown) {
    const nearest = nearestMember(name, free);
    const message = `there is no ${of.noun} ${quoted(name)}${otherNames(nearest, Object.keys(entries))}`;
    return { path: of.path, message, unknown: { path, nearest } };
  }
  const misspelt = Object.keys(of.given)
    .filter((each) => !Object.hasOwn(entries, each))
    .slice(0, MAX_LISTED)
    .find((each) => nearestMember(each, free) === name);
  const hint =
    misspelt === undefined
      ? missingHint(entries[name])
      : `; there is no ${of.noun} ${quoted(misspelt)}, did you mean ${quoted(name)}?`;
  return { path, message: `is missing${hint}` };
}

function otherNames(nearest: string | undefined, names: readonly string[]): string {
  if (nearest !== undefined) return `; did you mean ${quoted(nearest)}?`;
  if (names.length === 0) return "; this takes none";
  return names.length > MAX_LISTED ? "" : `; use ${names.length === 1 ? "" : "one of "}${names.join(", ")}`;
}

/** That it is text says nothing that its name does not. */
function missingHint(node: Node | undefined): string {
  const phrase = node === undefined ? "text" : phraseOf(node);
  return phrase === "text" ? "" : `; it must be ${phrase}`;
}

/** The member that says which of an object's forms is meant. */
function kindMessage(parents: readonly Node[], key: string, given: unknown): string {
  const kinds = parents.flatMap((node) => kindsOf(node, key));
  const must = oneOf(kinds);
  return given === undefined ? `is missing; it must be ${must}` : `must be ${must}${nearChoice(kinds, given)}`;
}

function kindsOf(node: Node, key: string): readonly string[] {
  const kinds = objectsIn(node).flatMap(({ entries = {} }) => choicesOf(entries[key]));
  return [...new Set(kinds)];
}

function valueFault(nodes: readonly Node[], issue: Issue, path: string | undefined, judge: Judge): Fault {
  const node = nodes.find((each) => isSource(each, issue)) ?? nodes[0] ?? { type: issue.type };
  const union = issue.type === "union" ? alternatives(node).find(({ type }) => type === "union") : undefined;
  const nested = union === undefined || !isFields(issue.input) ? undefined : unionFault(union, issue.input, judge);
  if (nested !== undefined) return within(path, nested);
  return { path, message: issue.kind === "schema" ? typeMessage(node, issue) : ruleMessage(node, issue) };
}

function within(path: string | undefined, fault: Fault): Fault {
  const { unknown } = fault;
  return {
    path: fault.path === undefined ? path : joined(path, fault.path),
    message: fault.message,
    unknown: unknown && { ...unknown, path: joined(path, unknown.path) },
  };
}

/** An object that is none of a union's forms: what is wrong with the nearest of them. */
function unionFault(union: Node, given: Fields, judge: Judge): Fault | undefined {
  const forms = objectsIn(union);
  const names = Object.keys(given);
  const known = ({ entries = {} }: Node): number => names.filter((name) => Object.hasOwn(entries, name)).length;
  const [nearest, second] = forms
    .map((form) => ({ form, score: known(form) }))
    .sort(
      (a, b) =>
        b.score - a.score || Object.keys(a.form.entries ?? {}).length - Object.keys(b.form.entries ?? {}).length,
    );
  if (nearest === undefined) return undefined;
  const { form, score } = nearest;
  const schema = form as unknown as v.GenericSchema;
  const issue = judge(schema, given);
  const fault = issue && faultOf(schema, issue, judge, "member");
  const isMember = fault !== undefined && issue?.path?.length === 1 && issue.path[0].origin === "key";
  // A wrong value of a form that is meant, or the only form.
  if (fault !== undefined && (!isMember || second === undefined)) return fault;
  const must = `must be ${phraseOf(union)}`;
  const all = [...new Set(forms.flatMap(({ entries = {} }) => Object.keys(entries)))];
  const stranger = names.find((name) => !all.includes(name));
  if (stranger !== undefined) {
    const near = nearestMember(
      stranger,
      all.filter((name) => !names.includes(name)),
    );
    const message = `${must}; there is no member ${quoted(stranger)}${near === undefined ? "" : `; did you mean ${quoted(near)}?`}`;
    return { path: undefined, message, unknown: { path: shortened(stranger), nearest: near } };
  }
  if (score === 0 || fault === undefined) return { path: undefined, message: must };
  const name = String(issue?.path?.[0]?.key);
  const wrong = Object.hasOwn(given, name)
    ? `${quoted(name)} does not go with ${quoted(names.find((each) => each !== name) ?? "")}`
    : `${quoted(name)} is missing`;
  return { path: undefined, message: `${must}; ${wrong}` };
}

/** A value of another type, or another value than those that there are. */
function typeMessage(node: Node, { type, input, expected }: Issue): string {
  if (type === "non_optional") return "is missing";
  if (type === "never" || (type === "strict_tuple" && expected === "never")) return "must be left out";
  const must = `must be ${phraseOf(node)}`;
  if (Array.isArray(input) && !has(node, "array") && objectsIn(node).length > 0) return `${must}, not a list`;
  if (typeof input !== "string") return must;
  const choices = alternatives(node).flatMap((each) => choicesOf(each));
  if (choices.length > 0) return `${must}${nearChoice(choices, input)}`;
  // A number or a boolean in quotes.
  if (/^(?:\d{1,15}|true|false)$/.test(input) && (has(node, "number") || has(node, "boolean")))
    return `${must}, not text`;
  return `${must}${exampleOf(node, input)}`;
}

function exampleOf(node: Node, input: string): string {
  if (!/^[!-~][ -~]{0,63}$/.test(input)) return "";
  const list = alternatives(node).find(({ type }) => type === "array");
  if (list?.item !== undefined && phraseOf(list.item) === "text")
    return `, such as ${JSON.stringify(input.trim().split(/ +/))}`;
  const form = has(node, "union") ? objectsIn(node).find(({ entries = {} }) => isOneText(entries)) : undefined;
  return form === undefined ? "" : `, such as ${JSON.stringify({ [Object.keys(form.entries ?? {})[0] ?? ""]: input })}`;
}

const isOneText = (entries: Readonly<Record<string, Node>>): boolean =>
  Object.values(entries).length === 1 && Object.values(entries).every(({ type }) => type === "string");

/** A value of the right type that a rule of its schema refuses. */
function ruleMessage(node: Node, { type, requirement, input }: Issue): string {
  const [least, things] = [Number(requirement), typeof input === "string" ? "characters" : "items"];
  const be = typeof input === "string" ? "be" : "have";
  switch (type) {
    case "non_empty":
      return "must not be empty";
    case "min_length":
      return least === 1 ? "must not be empty" : `must ${be} at least ${least} ${things}`;
    case "max_length":
      return `must ${be} at most ${least} ${things}`;
    case "max_bytes":
      return `must be at most ${least} bytes of UTF-8`;
    case "starts_with":
      return `must begin with ${JSON.stringify(requirement)}`;
    case "regex":
      return `must match ${String(requirement)}`;
    case "base64":
      return "must be base64";
    case "parse_json":
      return "must be JSON";
    case "integer":
    case "safe_integer":
    case "finite":
    case "min_value":
    case "max_value":
    case "gt_value":
      return `must be ${phraseOf(node)}`;
    default:
      return "has a value that is not allowed";
  }
}

/** What a value must be: `a whole number from 1 to 10`. */
function phraseOf(node: Node): string {
  const { wrapped, options = [], item, items } = node;
  switch (node.type) {
    case "nullable":
    case "nullish":
      return `${wrapped === undefined ? "" : `${phraseOf(wrapped)} or `}null`;
    case "string":
      return "text";
    case "number":
      return numberPhrase(stepsOf(node));
    case "boolean":
      return "true or false";
    case "literal":
    case "picklist":
      return oneOf(choicesOf(node));
    case "array":
      return item === undefined ? "a list" : listPhrase(item);
    case "strict_tuple":
    case "tuple":
      return `a list of ${items?.length ?? 0}`;
    case "null":
      return "null";
    case "union":
      return unionPhrase(options as readonly Node[]);
    case "variant":
      return `a JSON object whose \`${keyOf(node)}\` is ${oneOf(kindsOf(node, keyOf(node)))}`;
    case "object":
    case "strict_object":
    case "loose_object":
    case "record":
    case "custom":
      return "a JSON object";
    default:
      return wrapped === undefined ? "a value that is allowed here" : phraseOf(wrapped);
  }
}

function numberPhrase(steps: readonly Step[]): string {
  const bound = (type: string): number | undefined => {
    const requirement = steps.find((step) => step.type === type)?.requirement;
    return typeof requirement === "number" && Math.abs(requirement) < Number.MAX_SAFE_INTEGER ? requirement : undefined;
  };
  const [min, max, above] = [bound("min_value"), bound("max_value"), bound("gt_value")];
  const isWhole = steps.some(({ type }) => type === "integer" || type === "safe_integer");
  const low = above === undefined ? (min === undefined ? "" : ` from ${min}`) : ` above ${above}`;
  const until = low === "" ? "of at most" : above === undefined ? "to" : "up to";
  return `a ${isWhole ? "whole " : ""}number${low}${max === undefined ? "" : ` ${until} ${max}`}`;
}

function listPhrase(item: Node): string {
  const phrase = phraseOf(item);
  if (phrase.startsWith("one of ")) return `a list, each ${phrase}`;
  const [, what, rest = ""] = /^(?:a )?(text|list|JSON object|(?:whole )?number)\b(.*)$/.exec(phrase) ?? [];
  // Alternatives have no plural.
  if (what === undefined || phrase.includes(" or ")) return "a list";
  return `a list of ${what}${what === "text" ? "" : "s"}${rest}`;
}

function unionPhrase(options: readonly Node[]): string {
  const phrases = options.map((option) => {
    const inside = alternatives(option)[0] ?? option;
    return OBJECTS.has(inside.type) ? shapeOf(inside) : phraseOf(option);
  });
  const distinct = [...new Set(phrases)];
  const isPlain = distinct.every((phrase) => phrase.startsWith("{") || !/ or |, /.test(phrase));
  return distinct.join(isPlain ? " or " : ", or ");
}

/** `{regex, ignoreCase?}`. */
function shapeOf({ entries = {} }: Node): string {
  const members = Object.entries(entries).map(([name, member]) => {
    const [kind] = member.type === "literal" ? choicesOf(member) : [];
    const mark = /^(?:optional|exact_optional|nullish)$/.test(member.type) ? "?" : "";
    return kind === undefined ? `${name}${mark}` : `${name}: ${kind}`;
  });
  return `{${[...members.slice(0, MAX_SHOWN), ...(members.length > MAX_SHOWN ? ["…"] : [])].join(", ")}}`;
}

function oneOf(choices: readonly string[]): string {
  const [only = "", ...others] = choices;
  if (others.length > 0) return `one of ${choices.join(", ")}`;
  return /^(?:true|false|-?\d+)$/.test(only) ? only : JSON.stringify(only);
}

function nearChoice(choices: readonly string[], given: unknown): string {
  const near = typeof given === "string" ? nearestName(given.slice(0, MAX_NAME_CHARS), choices) : undefined;
  return near === undefined ? "" : `; did you mean ${quoted(near)}?`;
}

function choicesOf(node: Node | undefined): readonly string[] {
  if (node?.type === "literal") return [String(node.literal)];
  return node?.type === "picklist" ? (node.options ?? []).map(String) : [];
}

/** Where in the schema a path leads; to several places through a union. */
function nodesAt(root: Node, path: Path): readonly Node[] {
  let nodes: readonly Node[] = [root];
  for (const { key, origin, input } of path) {
    nodes = nodes.flatMap((node) => alternatives(node, input)).flatMap((node) => childOf(node, key, origin));
  }
  return nodes;
}

function childOf(
  { type, entries = {}, item, items = [], key: names, value }: Node,
  key: unknown,
  origin: string,
): Node[] {
  const child =
    type === "record"
      ? origin === "key"
        ? names
        : value
      : Object.hasOwn(entries, String(key))
        ? entries[String(key)]
        : (item ?? items[Number(key)]);
  return typeof child === "object" ? [child] : [];
}

/** A schema without what wraps it, with what its pipe goes on with and what a union or a variant consists of. */
function alternatives(node: Node, given?: unknown): readonly Node[] {
  if (node.wrapped !== undefined) return alternatives(node.wrapped, given);
  const further = stepsOf(node).filter(({ kind }) => kind === "schema");
  const isChoice = node.type === "union" || node.type === "variant";
  const options = isChoice
    ? ((node.options ?? []) as readonly Node[]).flatMap((each) => alternatives(each, given))
    : [];
  const meant = options.filter(({ entries = {} }) => node.type === "variant" && isKind(entries, keyOf(node), given));
  return [node, ...further, ...(meant.length > 0 ? meant : options)];
}

/** The name of the member that says which form of a variant is meant. */
const keyOf = ({ key }: Node): string => (typeof key === "string" ? key : "");

/** What a schema's pipe does after its first schema, which may have a pipe of its own. */
const stepsOf = ({ pipe = [] }: Node): readonly Step[] =>
  pipe.flatMap((step, at) => (at === 0 ? stepsOf(step) : [step]));

const isKind = (entries: Readonly<Record<string, Node>>, key: string, given: unknown): boolean =>
  isFields(given) && choicesOf(entries[key]).includes(String(given[key]));

const objectsIn = (node: Node, given?: unknown): readonly Node[] =>
  alternatives(node, given).filter(({ type }) => OBJECTS.has(type));

const has = (node: Node, type: string): boolean => alternatives(node).some((each) => each.type === type);

/** Whether this schema can have made the issue. */
const isSource = (node: Node, { kind, type, requirement }: Issue): boolean =>
  alternatives(node).some((each) =>
    kind === "schema"
      ? each.type === type
      : stepsOf(each).some((step) => step.type === type && Object.is(step.requirement, requirement)),
  );

const pathOf = (path: Path): string | undefined =>
  path.length === 0 ? undefined : path.map(({ key }) => shortened(String(key))).join(".");

const joined = (path: string | undefined, name: string): string => (path === undefined ? name : `${path}.${name}`);

const shortened = (name: string): string => (name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS)}…` : name);

const quoted = (name: string): string => `\`${shortened(name)}\``;

/** The name that was probably meant, of those that are not given. */
function nearestMember(given: string, names: readonly string[]): string | undefined {
  if (given.length > MAX_NAME_CHARS) return undefined;
  const letters = plain(given);
  return (
    names.find((name) => plain(name) === letters) ??
    nameFor(letters, names) ??
    nearestName(given, names) ??
    longest(names.filter((name) => name.length > 2 && letters.startsWith(plain(name)))) ??
    longest(names.filter((name) => name.length > 2 && letters.endsWith(plain(name)))) ??
    nameFor(longest(CALLED_NAMES.filter((word) => word.length > 2 && letters.startsWith(word))) ?? "", names)
  );
}

const plain = (name: string): string => name.replaceAll(/[-_ ]/g, "").toLowerCase();

const longest = (names: readonly string[]): string | undefined => [...names].sort((a, b) => b.length - a.length)[0];
