/** What another device did to this one's layout, in words for people, as plain text. */
import type { LayoutSnapshot } from "../../../../protocol/api/freshell/deviceLayout.ts";
import { leavesIn } from "../../../../daemon/devices/layoutTarget.ts";

export interface RemoteLine {
  readonly id: string;
  readonly who: string;
  readonly what: string;
  readonly atUnixMs: number;
  readonly canUndo: boolean;
  /** Whether it was undone, or why not. */
  readonly note?: string | undefined;
}

const MAX_SHOWN_CHARS = 60;

interface DoneRemotely {
  readonly command: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>>;
  readonly before: LayoutSnapshot;
  readonly after: LayoutSnapshot;
}

/** `opened the tab “build”`. */
export function whatWasDone({ command, args, result, before, after }: DoneRemotely): string {
  const tab = quoted(titleIn(after, result["tabId"]) ?? titleIn(before, result["tabId"]) ?? "?");
  switch (command) {
    case "new-tab":
      return `opened the tab ${tab}`;
    case "kill-tab":
      return `closed the tab ${tab}`;
    case "rename-tab":
      return `renamed the tab ${quoted(titleIn(before, result["tabId"]) ?? "?")} to ${tab}`;
    case "select-tab":
      return `chose the tab ${tab}`;
    case "split-pane":
      return `split a pane of ${tab}`;
    case "kill-pane":
      return `closed a pane of ${tab}`;
    case "resize-pane":
      return `resized a pane of ${tab}`;
    case "swap-pane":
      return `swapped panes of ${tab}`;
    case "select-pane":
      return `chose a pane of ${tab}`;
    case "open-browser":
    case "navigate":
      return `opened ${quoted(text(args["url"]))} in ${tab}`;
    case "open-editor":
      return `opened ${quoted(text(args["filePath"]))} in ${tab}`;
    case "attach-terminal":
      return `showed a terminal in a pane of ${tab}`;
    case "respawn-pane":
      return `started the terminal of a pane of ${tab} anew`;
    default:
      return `did ${quoted(command)}`;
  }
}

function titleIn(layout: LayoutSnapshot, tabId: unknown): string | undefined {
  return layout.tabs.find(({ id }) => id === tabId)?.title;
}

const text = (given: unknown): string => (typeof given === "string" ? given : "?");
const quoted = (given: string): string =>
  `“${given.length > MAX_SHOWN_CHARS ? `${given.slice(0, MAX_SHOWN_CHARS)}…` : given}”`;

/** How many panes a tab has, for screen readers. */
export const paneCount = (layout: LayoutSnapshot, tabId: string): number => leavesIn(layout, tabId).length;
