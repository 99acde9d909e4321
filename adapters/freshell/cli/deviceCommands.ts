/**
 * Commands about devices, their tabs and panes. Only the owner changes them; the server relays the request. Options and
 * arguments are the members of `RPC_ARGS`, which also says which of them are needed.
 */
import type { ContentRef } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { DeviceEntry } from "../../../protocol/api/freshell/rpc.ts";
import type { RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { invalidArgument, toAppError } from "../../../protocol/errors.ts";
import type { CommandSpec } from "../../cli/commandTypes.ts";
import { printable } from "../../cli/textTable.ts";
import { ownPane } from "./commandTargets.ts";
import type { Changed, DeviceCalls, PaneList, TabList } from "./deviceCalls.ts";
import {
  DEVICE_OPTION,
  facts,
  flag,
  type FreshellCall,
  freshellCommand,
  type FreshellRow,
  get,
  isoTime,
  listed,
  number,
  type Option,
  TAB_OPTION,
  text,
  word,
} from "./freshellCommand.ts";

const ON_TAB: readonly Option[] = [text("target", "TAB", "tab:ID, tab-name:NAME or tab-index:N"), DEVICE_OPTION];
const PANE_FORMS = "pane:ID, or pane-index:N with --tab; the first index is 0";
const ON_PANE: readonly Option[] = [text("target", "PANE", PANE_FORMS), TAB_OPTION, DEVICE_OPTION];
/** For commands that are about the pane that they run in, where none is named. */
const OWN_TARGET = text("target", "PANE", PANE_FORMS, { default: "inside a pane, this pane" });
const ON_OWN_PANE: readonly Option[] = [OWN_TARGET, TAB_OPTION, DEVICE_OPTION];
const SHELL = text("shell", "SHELL", "a path, or a name from /etc/shells", {
  implied: "system",
  default: "system, which is $SHELL",
});
const KEY = text("idempotency-key", "KEY", "a request repeated with this key is done once", {
  default: "a new one",
  gives: null,
});
const REVISION = number(
  "expected-revision",
  "N",
  "the layout revision that the change is for; at another one it fails with REVISION_CONFLICT",
  { default: "the current one", gives: null },
);
const percent = (name: string, short: string, split: string): Option =>
  number(name, "PERCENT", `percent of the nearest split ${split}`, { short, min: 1, max: 99, gives: short });
const URL_WORD = word("URL", "the page; http or https", { gives: "url" });

interface ChangeRow extends Omit<FreshellRow<Changed>, "asks" | "perform" | "show"> {
  readonly name: RpcCommand;
  readonly options: readonly Option[];
}

const CHANGES: readonly ChangeRow[] = [
  {
    name: "new-tab",
    summary: "open a tab with a terminal",
    options: [
      text("name", "NAME", "its title", { short: "n", gives: "title" }),
      SHELL,
      text("cwd", "DIR", "the directory that its terminal starts in", { complete: "directory", default: "home" }),
      DEVICE_OPTION,
      KEY,
    ],
    examples: [
      ["new-tab -n build --cwd .", "prints tab, pane and terminal"],
      ["new-tab --device desk --idempotency-key K", "once, however often the command is repeated"],
    ],
  },
  { name: "select-tab", summary: "show a tab", options: ON_TAB },
  {
    name: "kill-tab",
    summary: "close a tab; its terminals keep running",
    options: ON_TAB,
    examples: [["kill-tab --target tab-name:build", "prints the terminals that no pane shows any more"]],
  },
  {
    name: "rename-tab",
    summary: "rename a tab",
    options: ON_TAB,
    positionals: [word("NAME", "the title", { gives: "title" })],
  },
  {
    name: "split-pane",
    summary: "open a pane beside another one: a terminal, a page or a file",
    options: [
      ...ON_OWN_PANE,
      text("direction", "DIRECTION", "horizontal is side by side, vertical one above the other", {
        choices: ["horizontal", "vertical"],
      }),
      SHELL,
      text("browser", "URL", "the new pane shows a page"),
      text("editor", "FILE", "the new pane edits a file", { complete: "file" }),
      KEY,
    ],
    examples: [
      ["split-pane --target pane:ID --direction horizontal", "a terminal on its right"],
      ["split-pane --target pane:ID --direction vertical --browser http://localhost:3000", "a page"],
    ],
  },
  { name: "select-pane", summary: "make a pane the active one", options: ON_OWN_PANE },
  { name: "kill-pane", summary: "close a pane; its terminal keeps running", options: ON_PANE },
  {
    name: "resize-pane",
    summary: "resize a pane within its split",
    options: [...ON_OWN_PANE, percent("width", "x", "side by side"), percent("height", "y", "one above the other")],
  },
  {
    name: "swap-pane",
    summary: "swap two panes",
    options: [text("source", "PANE", "the other pane: pane:ID or pane-index:N"), ...ON_OWN_PANE],
  },
  { name: "open-browser", summary: "show a page in a pane", options: ON_OWN_PANE, positionals: [URL_WORD] },
  {
    name: "navigate",
    summary: "open another URL in a pane that shows a page",
    options: ON_OWN_PANE,
    positionals: [URL_WORD],
  },
  {
    name: "open-editor",
    summary: "edit a file in a pane",
    options: ON_OWN_PANE,
    positionals: [word("FILE", "the file", { gives: "filePath", complete: "file" })],
  },
  {
    name: "respawn-pane",
    summary: "end the program in a pane's terminal and start it again",
    options: [...ON_PANE, KEY],
  },
  {
    name: "attach-terminal",
    summary: "show a terminal in a pane",
    options: [
      text("target", "TERMINAL", "terminal:ID"),
      text("to", "PANE", "pane:ID, or pane-index:N with --tab"),
      TAB_OPTION,
      DEVICE_OPTION,
      KEY,
    ],
    examples: [["attach-terminal --target terminal:ID --to pane:ID", "no process starts or ends"]],
  },
];

const changeCommand = (row: ChangeRow): CommandSpec =>
  freshellCommand<Changed>({
    ...row,
    options: [...row.options, REVISION],
    perform: async (call) => {
      const own = row.options.includes(OWN_TARGET) ? ownPane(call) : undefined;
      const args = { ...call.members, ...(own && { target: own.target }) };
      return (await deviceCalls(call, own?.device)).change(row.name, args);
    },
    show: shownChange,
  });

/** In the form of targets, one per line. */
function shownChange({ tabId, paneId, terminalId, detachedTerminals, appliedRevision }: Changed): string {
  const ids = Object.entries({ tab: tabId, pane: paneId, terminal: terminalId });
  const made = ids.flatMap(([name, id]) => (typeof id === "string" ? [`${name}:${id}`] : [])).join(" ");
  const detached = Array.isArray(detachedTerminals) ? (detachedTerminals as unknown[]) : [];
  const lines = [made, ...detached.map((id) => `detached terminal:${String(id)}`), `revision ${appliedRevision}`];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

/** Loaded only when needed: commands on terminals stay fast. */
async function deviceCalls(call: FreshellCall, device?: string): Promise<DeviceCalls> {
  const { DeviceCalls: Calls } = await import("./deviceCalls.ts");
  return new Calls(call, device);
}

const STALE = flag("allow-stale", "while the device is offline, take the layout that it published last");

/** The tokens of `display` (seed 002 §8.7). */
const TOKENS = [
  "deviceId",
  "tabId",
  "tabTitle",
  "paneId",
  "paneKind",
  "terminalId",
  "sessionRef",
  "ownerOnline",
  "workspaceRevision",
] as const;
/** Known without the owner. */
const OF_DEVICE: ReadonlySet<string> = new Set(["deviceId", "ownerOnline"]);

/** In the order in which help lists them. */
export const LAYOUT_COMMANDS: readonly CommandSpec[] = [
  ...CHANGES.map(changeCommand),
  freshellCommand<readonly DeviceEntry[]>({
    name: "list-devices",
    summary: "list the devices that the server has seen",
    asks: () => get("/api/devices"),
    show: listed([
      ["DEVICE", ({ deviceId }) => deviceId],
      ["LABEL", ({ deviceLabel }) => deviceLabel],
      ["TYPE", ({ deviceType }) => deviceType],
      ["ONLINE", ({ online }) => (online ? "yes" : "no")],
      ["REVISION", ({ workspaceRevision }) => String(workspaceRevision ?? "-")],
      ["LAST SEEN", ({ lastSeenAt }) => isoTime(lastSeenAt)],
    ]),
  }),
  freshellCommand<DeviceEntry>({
    name: "device-status",
    summary: "tell whether a device is online",
    options: [DEVICE_OPTION],
    examples: [["device-status --device desk --json", "for a program"]],
    perform: async (call) => (await deviceCalls(call)).status(),
    show: ({ deviceId, deviceLabel, deviceType, online, lastSeenAt, workspaceRevision }) =>
      facts(10, [
        ["device", `${deviceLabel} (${deviceId})`],
        ["type", deviceType],
        ["online", online ? "yes" : `no, last seen ${isoTime(lastSeenAt)}`],
        ["revision", String(workspaceRevision ?? "unknown")],
      ]),
  }),
  freshellCommand<TabList>({
    name: "list-tabs",
    summary: "list the tabs of a device",
    options: [DEVICE_OPTION, STALE],
    examples: [["list-tabs --device desk --allow-stale", "also while it is offline"]],
    perform: async (call) => (await deviceCalls(call)).tabs(call.options.flag("allow-stale")),
    show: (list) =>
      staleness(list) +
      listed<TabList["tabs"][number]>([
        ["", mark],
        ["INDEX", ({ index }) => String(index)],
        ["TAB", ({ id }) => `tab:${id}`],
        ["PANES", ({ panes }) => String(panes)],
        ["TITLE", ({ title }) => title],
      ])(list.tabs),
  }),
  freshellCommand<PaneList>({
    name: "list-panes",
    summary: "list the panes of a device, or of one of its tabs",
    options: [
      { ...TAB_OPTION, description: "only of this tab: tab:ID, tab-name:NAME or tab-index:N" },
      DEVICE_OPTION,
      STALE,
    ],
    examples: [["list-panes --tab tab-name:build", "of one tab"]],
    perform: async (call) =>
      (await deviceCalls(call)).panes(call.options.flag("allow-stale"), call.options.text("tab")),
    show: (list) =>
      staleness(list) +
      listed<PaneList["panes"][number]>([
        ["", mark],
        ["INDEX", ({ index }) => String(index)],
        ["PANE", ({ id }) => `pane:${id}`],
        ["TAB", ({ tabId }) => `tab:${tabId}`],
        ["KIND", ({ kind }) => kind],
        ["SHOWS", shownContent],
      ])(list.panes),
  }),
  freshellCommand<{ readonly text: string }>({
    name: "display",
    summary: "print a line about a pane, in a given format",
    details: [
      `Tokens: ${TOKENS.map((token) => `%${token}`).join(" ")}; %% is a percent sign. A missing value is empty.`,
      "The default is the pane that it runs in, elsewhere the active pane. A format with only %deviceId and %ownerOnline works while the device is offline.",
    ],
    options: [text("format", "FORMAT", "text with tokens", { short: "p", dashed: true }), ...ON_OWN_PANE],
    examples: [["display -p '%tabTitle %paneKind'", "of the active pane"]],
    perform: display,
    show: ({ text: line }) => `${printable(line)}\n`,
  }),
];

const mark = ({ active }: { readonly active: boolean }): string => (active ? "*" : " ");

/** The first line of a stale list. */
const staleness = ({ source, capturedAt }: Pick<TabList, "source" | "capturedAt">): string =>
  source === "live" ? "" : `as of ${isoTime(capturedAt)}; the device is offline\n`;

const sessionText = ({ sessionRef }: Extract<ContentRef, { readonly sessionRef: unknown }>): string =>
  `${sessionRef.provider}:${sessionRef.sessionId}`;

function shownContent({ contentRef, url, filePath }: PaneList["panes"][number]): string {
  if (contentRef)
    return "terminalId" in contentRef ? `terminal:${contentRef.terminalId}` : `session:${sessionText(contentRef)}`;
  // Another program may be the owner.
  const shown: unknown = url ?? filePath;
  return typeof shown === "string" ? shown : "";
}

/** `%` with a word, as many letters as follow, stands for a value of a pane, `%%` for a percent sign. @throws AppError */
async function display(call: FreshellCall): Promise<{ readonly text: string }> {
  const { options } = call;
  const format = options.text("format");
  if (format === undefined) throw invalidArgument("display needs -p FORMAT, such as -p '%tabId %paneId'");
  const tokens = tokensOf(format);
  const own = ownPane(call);
  const calls = await deviceCalls(call, own?.device);
  const [target, tab] = [own?.target ?? options.text("target"), options.text("tab")];
  const isNamed = options.text("target") !== undefined || tab !== undefined;
  const { deviceId } = calls;
  const values = async (): Promise<Readonly<Record<string, string>>> => {
    if (isNamed || tokens.some((token) => !OF_DEVICE.has(token))) return paneValues(calls, target, tab);
    return { ownerOnline: String(tokens.includes("ownerOnline") && (await isOnline(calls))) };
  };
  const known: Readonly<Record<string, string>> = { deviceId, ...(await values()) };
  return { text: format.replaceAll(TOKEN, (_, name: string) => (name === "%" ? "%" : (known[name] ?? ""))) };
}

const TOKEN = /%(%|[A-Za-z]*)/g;

/** @throws AppError INVALID_ARGUMENT */
function tokensOf(format: string): readonly string[] {
  const names = [...format.matchAll(TOKEN)].map(([, name = ""]) => name).filter((name) => name !== "%");
  const wrong = names.find((name) => !(TOKENS as readonly string[]).includes(name));
  if (wrong === undefined) return names;
  const quoted = JSON.stringify(`%${wrong}`.slice(0, 80));
  throw invalidArgument(
    `${quoted} is not a token: %% is a percent sign, tokens are ${TOKENS.map((one) => `%${one}`).join(" ")}`,
  );
}

async function paneValues(
  calls: DeviceCalls,
  target: string | undefined,
  tab: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  const { workspaceRevision, ownerOnline, found } = await calls.pane(target, tab);
  const values = { workspaceRevision: String(workspaceRevision), ownerOnline: String(ownerOnline) };
  if (found === undefined) return values;
  const { tab: inTab, leaf, contentRef } = found;
  return {
    ...values,
    tabId: inTab.id,
    tabTitle: inTab.title,
    paneId: leaf.id,
    paneKind: leaf.content.kind,
    ...(contentRef !== null && "terminalId" in contentRef ? { terminalId: contentRef.terminalId } : {}),
    ...(contentRef !== null && "sessionRef" in contentRef ? { sessionRef: sessionText(contentRef) } : {}),
  };
}

/** The server may never have seen this command line's device. */
async function isOnline(calls: DeviceCalls): Promise<boolean> {
  try {
    return (await calls.status()).online;
  } catch (error) {
    if (calls.isOwn && toAppError(error).code === "NOT_FOUND") return false;
    throw error;
  }
}
