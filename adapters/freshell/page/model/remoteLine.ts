/** What another device did to this one's layout, in words for people, as plain text. */
import type { LayoutSnapshot } from "../../../../protocol/api/freshell/deviceLayout.ts";

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
  const titleBefore = titleIn(before, result["tabId"]) ?? "?";
  const tab = quoted(titleIn(after, result["tabId"]) ?? titleBefore);
  const words: Readonly<Record<string, string>> = {
    "new-tab": `opened the tab ${tab}`,
    "kill-tab": `closed the tab ${tab}`,
    "rename-tab": `renamed the tab ${quoted(titleBefore)} to ${tab}`,
    "select-tab": `chose the tab ${tab}`,
    "split-pane": `split a pane of ${tab}`,
    "kill-pane": `closed a pane of ${tab}`,
    "resize-pane": `resized a pane of ${tab}`,
    "swap-pane": `swapped panes of ${tab}`,
    "select-pane": `chose a pane of ${tab}`,
    "open-browser": `opened ${quoted(text(args["url"]))} in ${tab}`,
    navigate: `opened ${quoted(text(args["url"]))} in ${tab}`,
    "open-editor": `opened ${quoted(text(args["filePath"]))} in ${tab}`,
    "attach-terminal": `showed a terminal in a pane of ${tab}`,
    "respawn-pane": `restarted the terminal of a pane of ${tab}`,
  };
  return words[command] ?? `did ${quoted(command)}`;
}

function titleIn(layout: LayoutSnapshot, tabId: unknown): string | undefined {
  return layout.tabs.find(({ id }) => id === tabId)?.title;
}

const text = (given: unknown): string => (typeof given === "string" ? given : "?");
const quoted = (given: string): string =>
  `“${given.length > MAX_SHOWN_CHARS ? `${given.slice(0, MAX_SHOWN_CHARS)}…` : given}”`;
