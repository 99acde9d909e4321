/**
 * The commands of the layout plane and their arguments (seed 002 §6, §15): one schema per command, for the server, the
 * command line and every owner. Unknown arguments are refused. Selectors are written as on the command line; this file
 * declares which kinds each command takes.
 */
import * as v from "valibot";
import { isFields } from "../../text/jsonObject.ts";
import { faultText } from "../faultWords.ts";
import { tryParse } from "../parse.ts";
import { AppError } from "../../errors.ts";
import { wellFormedText } from "../../text/wellFormed.ts";
import { filePathSchema, invalid, paneUrlSchema, SPLIT_DIRECTIONS, tabTitleSchema } from "./deviceLayout.ts";
import { TERMINAL_MODES, waitOptions } from "./freshellHttp.ts";
import { argument, notEmpty } from "./schemaParts.ts";
import { parseSelector, type SelectorType } from "./selectors.ts";

const selector = v.pipe(v.string("must be text"), notEmpty);
const percent = v.pipe(
  v.number("must be a number"),
  v.integer("must be an integer"),
  v.minValue(1, "must be 1 to 99"),
  v.maxValue(99, "must be 1 to 99"),
);
const ofTab = { target: selector };
const ofPane = { target: selector, tab: v.optional(selector) };
/** The content of a new pane: a terminal, unless one of the others is given. */
const content = {
  browser: v.optional(paneUrlSchema),
  editor: v.optional(filePathSchema),
  shell: v.optional(argument),
  cwd: v.optional(argument),
  mode: v.optional(v.picklist(TERMINAL_MODES)),
};
const yes = v.optional(v.boolean("must be true or false"));
const { target: _target, ...waitPredicates } = waitOptions;

/** The arguments of each command. Selectors are written as on the command line. */
export const RPC_ARGS = {
  "new-tab": v.strictObject({ title: v.optional(tabTitleSchema), picker: v.optional(v.literal(true)), ...content }),
  "kill-tab": v.strictObject(ofTab),
  "rename-tab": v.strictObject({ ...ofTab, title: tabTitleSchema }),
  "select-tab": v.strictObject(ofTab),
  "split-pane": v.strictObject({
    ...ofPane,
    direction: v.picklist(SPLIT_DIRECTIONS, "must be horizontal or vertical"),
    picker: v.optional(v.literal(true)),
    ...content,
  }),
  "kill-pane": v.strictObject(ofPane),
  "resize-pane": v.strictObject({ ...ofPane, x: v.optional(percent), y: v.optional(percent) }),
  "swap-pane": v.strictObject({ source: selector, ...ofPane }),
  "select-pane": v.strictObject(ofPane),
  "open-browser": v.strictObject({ ...ofPane, url: paneUrlSchema }),
  navigate: v.strictObject({ ...ofPane, url: paneUrlSchema }),
  "open-editor": v.strictObject({ ...ofPane, filePath: filePathSchema }),
  "attach-terminal": v.strictObject({ target: selector, to: selector, tab: v.optional(selector) }),
  "respawn-pane": v.strictObject(ofPane),
  "send-keys": v.strictObject({
    ...ofPane,
    keys: v.pipe(v.array(wellFormedText, "must be a list of words"), v.minLength(1, "must not be empty")),
    literal: yes,
  }),
  "capture-pane": v.strictObject({
    ...ofPane,
    /** The first line, as with `-S`. */
    S: v.optional(
      v.pipe(v.string("must be text"), v.regex(/^(?:-|-?\d{1,9})$/, "must be a line number, or - for all")),
    ),
    J: yes,
    e: yes,
  }),
  "wait-for": v.strictObject({ ...ofPane, ...waitPredicates }),
  read: v.strictObject({}),
  resolve: v.strictObject(ofPane),
} as const;

export type RpcCommand = keyof typeof RPC_ARGS;
export type RpcArgs<Command extends RpcCommand> = v.InferOutput<(typeof RPC_ARGS)[Command]>;

/** Commands that do not change the layout: they need no revision, and the same principal may use them. */
const UNCHANGING: ReadonlySet<RpcCommand> = new Set(["send-keys", "capture-pane", "wait-for", "read", "resolve"]);
export const isMutation = (command: RpcCommand): boolean => !UNCHANGING.has(command);

/** Commands that need a key, because a repeated request would otherwise be performed again. */
const KEYED: ReadonlySet<RpcCommand> = new Set(["new-tab", "split-pane", "attach-terminal", "respawn-pane"]);
export const needsKey = (command: RpcCommand): boolean => KEYED.has(command);

/** Whether a new pane has a terminal, which is the default. */
export const hasTerminal = (args: RpcArgs<"new-tab" | "split-pane">): boolean =>
  args.browser === undefined && args.editor === undefined && args.picker === undefined;

const SELECTORS: Readonly<Record<"tab" | "pane" | "terminal", readonly SelectorType[]>> = {
  tab: ["tab", "tab-name", "tab-index"],
  pane: ["pane", "pane-index"],
  terminal: ["terminal"],
};
const TAB_TARGETS: ReadonlySet<RpcCommand> = new Set(["kill-tab", "rename-tab", "select-tab"]);

/**
 * The arguments, validated by the command's schema, including selectors.
 * @throws AppError INVALID_ARGUMENT, INVALID_TARGET
 */
export function parseArgs<Command extends RpcCommand>(command: Command, given: unknown): RpcArgs<Command> {
  const args = checkedObject(RPC_ARGS[command], given, "args") as RpcArgs<Command>;
  const { target, to, source, tab } = args as Readonly<Record<string, string | undefined>>;
  if (tab !== undefined) requireSelector("tab", tab, SELECTORS.tab);
  const wanted = command === "attach-terminal" ? "terminal" : TAB_TARGETS.has(command) ? "tab" : "pane";
  if (target !== undefined) requireSelector("target", target, SELECTORS[wanted], tab);
  if (to !== undefined) requireSelector("to", to, SELECTORS.pane, tab);
  if (source !== undefined) requireSelector("source", source, SELECTORS.pane, tab);
  if (command === "new-tab" || command === "split-pane") requireOneContent(args as RpcArgs<"new-tab">);
  const { x, y } = args as { readonly x?: number; readonly y?: number };
  if (command === "resize-pane" && x === undefined && y === undefined) {
    throw invalid("missing args: give x or y, in percent of the split");
  }
  return args;
}

function requireSelector(name: string, given: string, types: readonly SelectorType[], tab?: string): void {
  const parsed = parseSelector(given);
  if (!types.includes(parsed.type)) {
    const forms = types.map((type) => `${type}:`).join(" or ");
    throw new AppError("INVALID_TARGET", `${name} must begin with ${forms}, not with ${parsed.type}:`);
  }
  if (parsed.type === "pane-index" && tab === undefined) {
    throw invalid(`${name}: pane-index: is relative to a tab; name the tab as well`);
  }
}

function requireOneContent({ browser, editor, picker, shell, cwd, mode }: RpcArgs<"new-tab">): void {
  const terminal = shell ?? cwd ?? mode;
  if ([browser, editor, picker, terminal].filter((one) => one !== undefined).length > 1) {
    throw invalid("args: give only one of browser, editor, picker and a terminal's options");
  }
}

/** Refuses `__proto__` here, because a schema finds it in every object. @throws AppError INVALID_ARGUMENT */
export function checkedObject<Schema extends v.GenericSchema>(
  schema: Schema,
  given: unknown,
  what?: string,
): v.InferOutput<Schema> {
  const place = (path?: string): string => [what, path].filter((part) => part !== undefined).join(".");
  const isObject = isFields(given);
  if (isObject && Object.hasOwn(given, "__proto__")) throw invalid(`${place("__proto__")}: unknown field`);
  const found = tryParse(schema, isObject ? given : undefined);
  if (found.success) return found.output;
  const where = place(found.fault.path);
  throw invalid(faultText({ ...found.fault, path: where === "" ? undefined : where }));
}
