/** Commands that only read: devices, their tabs and panes, and one line about a pane. */
import type { DeviceEntry } from "../../../protocol/api/freshell/rpc.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandSpec } from "../../cli/commandTypes.ts";
import { printable, table } from "../../cli/textTable.ts";
import { failureOf } from "./commandFailure.ts";
import { DEVICE_OPTION, OWN_PANE_OPTIONS, STALE_OPTION, TAB_OPTION, text } from "./commandOptions.ts";
import { ownPane } from "./commandTargets.ts";
import type { DeviceCalls } from "./deviceCalls.ts";
import { DISPLAY_TOKENS, rendered, tokensOf } from "./displayFormat.ts";
import { type FreshellCall, freshellCommand } from "./freshellCommand.ts";
import type { ListedPane, PaneList, TabList } from "./layoutListings.ts";

const callsOf = async (call: FreshellCall, device?: string): Promise<DeviceCalls> => {
  const { DeviceCalls: Calls } = await import("./deviceCalls.ts");
  return new Calls(call, device);
};

/** Unix milliseconds as an ISO time. */
const shownTime = (unixMs: number): string => new Date(unixMs).toISOString();

const listDevicesCommand = freshellCommand<readonly DeviceEntry[]>({
  name: "list-devices",
  summary: "list the devices that the server has seen",
  perform: ({ session }) => session.call({ method: "GET", path: "/api/devices" }),
  show: (devices) =>
    table(
      ["DEVICE", "LABEL", "TYPE", "ONLINE", "REVISION", "LAST SEEN"],
      devices.map(({ deviceId, deviceLabel, deviceType, online, workspaceRevision, lastSeenAt }) => [
        deviceId,
        deviceLabel,
        deviceType,
        online ? "yes" : "no",
        String(workspaceRevision ?? "-"),
        shownTime(lastSeenAt),
      ]),
    ),
});

const deviceStatusCommand = freshellCommand<DeviceEntry>({
  name: "device-status",
  summary: "tell whether a device is online",
  options: [DEVICE_OPTION],
  examples: [{ line: "freshell device-status --device desk --json", does: "for a program" }],
  perform: async (call) => (await callsOf(call)).status(),
  show: ({ deviceId, deviceLabel, deviceType, online, lastSeenAt, workspaceRevision }) =>
    [
      ["device", `${deviceLabel} (${deviceId})`],
      ["type", deviceType],
      ["online", online ? "yes" : `no, last seen ${shownTime(lastSeenAt)}`],
      ["revision", String(workspaceRevision ?? "unknown")],
    ]
      .map(([name = "", value = ""]) => `${name.padEnd(10)}${printable(value)}\n`)
      .join(""),
});

const listTabsCommand = freshellCommand<TabList>({
  name: "list-tabs",
  summary: "list the tabs of a device",
  options: [DEVICE_OPTION, STALE_OPTION],
  examples: [{ line: "freshell list-tabs --device desk --allow-stale", does: "also while it is offline" }],
  perform: async (call) => {
    const calls = await callsOf(call);
    const { tabList } = await import("./layoutListings.ts");
    return tabList(await calls.layout(call.options.flag("allow-stale")));
  },
  show: ({ tabs, ...workspace }) =>
    staleness(workspace) +
    table(
      ["", "INDEX", "TAB", "PANES", "TITLE"],
      tabs.map(({ active, index, id, panes, title }) => [
        mark(active),
        String(index),
        `tab:${id}`,
        String(panes),
        title,
      ]),
    ),
});

const listPanesCommand = freshellCommand<PaneList>({
  name: "list-panes",
  summary: "list the panes of a device, or of one of its tabs",
  options: [
    { ...TAB_OPTION, description: "only of this tab: tab:ID, tab-name:NAME or tab-index:N" },
    DEVICE_OPTION,
    STALE_OPTION,
  ],
  examples: [{ line: "freshell list-panes --tab tab-name:build", does: "of one tab" }],
  perform: async (call) => {
    const calls = await callsOf(call);
    const [{ paneList }, tab] = [await import("./layoutListings.ts"), call.options.text("tab")];
    return paneList(await calls.layout(call.options.flag("allow-stale")), tab);
  },
  show: ({ panes, ...workspace }) =>
    staleness(workspace) +
    table(
      ["", "INDEX", "PANE", "TAB", "KIND", "SHOWS"],
      panes.map(({ active, index, id, tabId, kind, ...pane }) => [
        mark(active),
        String(index),
        `pane:${id}`,
        `tab:${tabId}`,
        kind,
        shownContent(pane),
      ]),
    ),
});

const mark = (isActive: boolean): string => (isActive ? "*" : " ");

/** The first line of a stale list. */
const staleness = ({ source, capturedAt }: Pick<TabList, "source" | "capturedAt">): string =>
  source === "live" ? "" : `as of ${shownTime(capturedAt)}; the device is offline\n`;

function shownContent({ contentRef, url, filePath }: Partial<ListedPane>): string {
  if (contentRef) {
    if ("terminalId" in contentRef) return `terminal:${contentRef.terminalId}`;
    return `session:${contentRef.sessionRef.provider}:${contentRef.sessionRef.sessionId}`;
  }
  const shown = url ?? filePath;
  return typeof shown === "string" ? shown : "";
}

const displayCommand = freshellCommand<{ readonly text: string }>({
  name: "display",
  summary: "print a line about a pane, in a given format",
  details: [
    `Tokens: ${DISPLAY_TOKENS.map((token) => `%${token}`).join(" ")}; %% is a percent sign. A missing value is empty.`,
    "The default is the pane that it runs in, elsewhere the active pane. A format with only %deviceId and %ownerOnline works while the device is offline.",
  ],
  options: [text("format", "FORMAT", "text with tokens", { short: "p", dashed: true }), ...OWN_PANE_OPTIONS],
  examples: [{ line: "freshell display -p '%tabTitle %paneKind'", does: "of the active pane" }],
  perform: async (call) => {
    const { options } = call;
    const format = options.text("format");
    if (format === undefined)
      throw new AppError("INVALID_ARGUMENT", "display needs -p FORMAT, such as -p '%tabId %paneId'");
    const tokens = tokensOf(format);
    const own = ownPane(call);
    const calls = await callsOf(call, own?.device);
    const [target, tab] = [own?.target ?? options.text("target"), options.text("tab")];
    const isNamed = options.text("target") !== undefined || tab !== undefined;
    const needsOwner = isNamed || [...tokens].some((token) => !OF_DEVICE.has(token));
    const { deviceId } = calls;
    if (!needsOwner) {
      const online = tokens.has("ownerOnline") ? await isOnline(calls) : false;
      return { text: rendered(format, { deviceId, ownerOnline: String(online) }) };
    }
    const { displayValues } = await import("./layoutListings.ts");
    const layout = await calls.layout(false);
    const ownerOnline = String(layout.ownerOnline);
    return { text: rendered(format, { deviceId, ownerOnline, ...displayValues(layout, target, tab) }) };
  },
  show: ({ text: line }) => `${printable(line)}\n`,
});

/** Known without the owner. */
const OF_DEVICE: ReadonlySet<string> = new Set(["deviceId", "ownerOnline"]);

/** The server may never have seen this command line's device. */
async function isOnline(calls: DeviceCalls): Promise<boolean> {
  try {
    return (await calls.status()).online;
  } catch (error) {
    if (calls.isOwn && failureOf(error).fault.code === "NOT_FOUND") return false;
    throw error;
  }
}

/** In the order in which help lists them. */
export const LISTING_COMMANDS: readonly CommandSpec[] = [
  listDevicesCommand,
  deviceStatusCommand,
  listTabsCommand,
  listPanesCommand,
  displayCommand,
];
