/**
 * Adds our hooks to an agent's settings and removes them, as text edits: everything else in the file keeps its place and
 * formatting, and removing the hooks restores the original bytes, unless the file was rewritten in between.
 */
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { matches, parse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import { isFields } from "../../protocol/text/jsonObject.ts";
import { isOurCommand } from "./hookScript.ts";
import {
  insertItem,
  isMadeForItem,
  type JsonNode,
  layoutOf,
  measure,
  memberOf,
  removeItem,
  withoutComments,
} from "./commentedJson.ts";

/** Larger than any settings file. */
const MAX_SETTINGS_BYTES = 1_048_576;

/** The group of hooks for each event, by the event's name. */
export type HookGroups = ReadonlyMap<string, object>;

type HookState = "installed" | "different" | "missing";

interface SettingsState {
  readonly state: "installed" | "outdated" | "partly" | "not installed";
  readonly events: Readonly<Record<string, HookState>>;
  /** The user has disabled all hooks. */
  readonly disabled: boolean;
}

/**
 * @param bytes undefined if the file does not exist.
 * @param takesComments whether the agent allows comments.
 * @throws AppError CONFIGURATION_INVALID when it is not a plain JSON object.
 */
export function readSettings(path: string, bytes: Uint8Array | undefined, takesComments = false): string | undefined {
  if (bytes === undefined) return undefined;
  const refuse = (why: string): AppError =>
    new AppError("CONFIGURATION_INVALID", `${path} ${why}; it was not changed, correct it and try again`);
  if (bytes.length > MAX_SETTINGS_BYTES) throw refuse("is longer than 1 MiB");
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw refuse("begins with a byte order mark");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuse("is not UTF-8");
  }
  // Such as an editor may leave behind.
  if (text.trim() === "") throw refuse("is empty, which is not valid JSON (write {} into it, or remove it)");
  if (!matches(settingsSchema, parseText(text, refuse, takesComments))) {
    throw refuse('has a "hooks" value that the agent does not accept');
  }
  return text;
}

/** The settings with exactly these hooks of ours. */
export function withHooks(text: string | undefined, groups: HookGroups): string {
  if (text !== undefined && stateOf(text, groups).state === "installed") return text;
  let result = text === undefined ? undefined : withoutHooks(text);
  if (result === undefined) {
    const hooks = Object.fromEntries([...groups].map(([event, group]) => [event, [group]]));
    return `${JSON.stringify({ hooks }, undefined, 2)}\n`;
  }
  for (const [event, group] of groups) result = withHook(result, event, group);
  return result;
}

/** The settings without our hooks; undefined if nothing would be left of a file created for them. */
export function withoutHooks(text: string): string | undefined {
  for (let result = text; ;) {
    const next = withoutOne(result);
    if (next === result) return result;
    if (next === undefined) return undefined;
    result = next;
  }
}

export function stateOf(text: string | undefined, groups: HookGroups): SettingsState {
  const settings = text === undefined ? {} : parse(settingsSchema, JSON.parse(withoutComments(text)));
  const events = Object.fromEntries(
    [...groups].map(([event, group]): [string, HookState] => {
      const ours = (settings.hooks?.[event] ?? []).filter((one) => one.hooks?.some(isOurs) === true);
      if (ours.length === 0) return [event, "missing"];
      return [event, ours.length === 1 && isDeepStrictEqual(ours[0], group) ? "installed" : "different"];
    }),
  );
  // Hooks that an earlier version installed and this one does not.
  const others = Object.entries(settings.hooks ?? {}).filter(([event]) => !groups.has(event));
  const isMore = others.some(([, all]) => all.some((one) => one.hooks?.some(isOurs) === true));
  const isDisabled = settings.disableAllHooks === true || settings.hooksConfig?.enabled === false;
  return { state: overall(Object.values(events), isMore), events, disabled: isDisabled };
}

function overall(states: readonly HookState[], isMore: boolean): SettingsState["state"] {
  if (states.every((state) => state === "missing") && !isMore) return "not installed";
  if (states.includes("missing")) return "partly";
  return states.includes("different") || isMore ? "outdated" : "installed";
}

function withHook(text: string, event: string, group: object): string {
  const root = measure(text);
  const layout = layoutOf(text, root);
  const hooks = memberOf(root, "hooks")?.value;
  if (hooks === undefined) return insertItem(text, root, { key: "hooks", value: { [event]: [group] } }, layout, 1);
  const groups = memberOf(hooks, event)?.value;
  if (groups === undefined) return insertItem(text, hooks, { key: event, value: [group] }, layout, 2);
  return insertItem(text, groups, { value: group }, layout, 3);
}

/** The text without our last hook and the containers created for it. */
function withoutOne(text: string): string | undefined {
  const steps = stepsToOurs(measure(text));
  if (steps === undefined) return text;
  // A container that is removed with its only item is itself an item one level up.
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (!isMadeForItem(text, step.container)) return removeItem(text, step.container, step.index);
  }
  return undefined;
}

interface Step {
  readonly container: JsonNode;
  readonly index: number;
}

/** The path from the outermost object to our last hook, or to its group if the group holds nothing else. */
function stepsToOurs(root: JsonNode): Step[] | undefined {
  const member = root.items.findLastIndex((item) => item.key === "hooks");
  const events = root.items[member]?.value;
  if (events === undefined) return undefined;
  for (const [event, { value: groups }] of [...events.items.entries()].reverse()) {
    for (const [group, { value }] of [...groups.items.entries()].reverse()) {
      const hooks = memberOf(value, "hooks")?.value;
      const ours = (hooks?.items ?? []).map((hook) => isOurCommand(memberOf(hook.value, "command")?.value.text));
      const last = ours.lastIndexOf(true);
      if (hooks === undefined || last === -1) continue;
      const steps = [
        { container: root, index: member },
        { container: events, index: event },
        { container: groups, index: group },
      ];
      return ours.every(Boolean) ? steps : [...steps, { container: hooks, index: last }];
    }
  }
  return undefined;
}

const isOurs = ({ command }: { readonly command?: unknown }): boolean => isOurCommand(command);

const groupSchema = v.looseObject({
  hooks: v.optional(v.array(v.looseObject({ command: v.optional(v.unknown()) }))),
});

/** A plain looseObject would also accept an array. */
const plainObject = v.custom<Record<string, unknown>>(isFields);

/** Only the settings needed here. */
const settingsSchema = v.pipe(
  plainObject,
  v.looseObject({
    disableAllHooks: v.optional(v.unknown()),
    hooksConfig: v.optional(v.looseObject({ enabled: v.optional(v.unknown()) })),
    hooks: v.optional(v.pipe(plainObject, v.record(v.string(), v.array(groupSchema)))),
  }),
);

/** Messages never quote the text, because settings may hold secrets. */
function parseText(text: string, refuse: (why: string) => AppError, takesComments: boolean): unknown {
  try {
    const parsed: unknown = JSON.parse(takesComments ? withoutComments(text) : text);
    // Fails if it is nested too deeply to be measured.
    measure(text);
    return parsed;
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1];
    const line = position === undefined ? "" : ` (line ${text.slice(0, Number(position)).split("\n").length})`;
    const rule = takesComments ? "a comma after a last item is" : "comments and commas after a last item are";
    throw refuse(`is not plain JSON${line}: ${rule} not allowed`);
  }
}
