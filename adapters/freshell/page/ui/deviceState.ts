/** What a page shows besides the device: its name for others, its connection, and what is open in it. */
import type {
  LayoutLeaf,
  LayoutNode,
  LayoutSnapshot,
  LayoutTab,
} from "../../../../protocol/api/freshell/deviceLayout.ts";
import { leavesIn } from "../../devices/layoutTarget.ts";
import type { DeviceView } from "../device/profilePages.ts";
import type { LinkState } from "../../devices/freshellLink.ts";

type PageRole = "owner" | "mirror" | "superseded";

export interface DeviceState {
  readonly role: PageRole | undefined;
  readonly link: LinkState;
  /** Undefined until the device is known. */
  readonly view: DeviceView | undefined;
  readonly dialog: "settings" | "help" | "activity" | undefined;
  readonly renaming: { readonly kind: "tab" | "pane"; readonly id: string } | undefined;
  /** Active panes that fill their tab, by tab. */
  readonly zoomed: ReadonlyMap<string, string>;
  /** The pane whose text is searched. */
  readonly findingIn: string | undefined;
  /** Tabs whose panes are kept, the last one shown first. */
  readonly shown: readonly string[];
  /** The last problem, until it is dismissed. */
  readonly problem: string | undefined;
  /** Why nothing can be stored: without storage there is no device. */
  readonly fault: string | undefined;
  readonly readLines: ReadonlySet<string>;
  readonly readNotes: ReadonlySet<string>;
}

export const FIRST_STATE: DeviceState = {
  role: undefined,
  link: { kind: "connecting" },
  view: undefined,
  dialog: undefined,
  renaming: undefined,
  zoomed: new Map(),
  findingIn: undefined,
  shown: [],
  problem: undefined,
  fault: undefined,
  readLines: new Set(),
  readNotes: new Set(),
};

/** Screens cost memory: the least recently shown tabs drop theirs, and get them again from the server. */
const MAX_SHOWN_TABS = 12;

/** The state with a new view: closes what no longer exists. */
export function withView(state: DeviceState, view: DeviceView): DeviceState {
  const { snapshot } = view.layout;
  const active = snapshot.activeTabId;
  const isTab = (id: string): boolean => snapshot.tabs.some((tab) => tab.id === id);
  const shown = [...(active === null ? [] : [active]), ...state.shown.filter((id) => id !== active && isTab(id))];
  // Another active pane, even a new one, ends the zoom, as in tmux.
  const zoomed = new Map([...state.zoomed].filter(([tabId, paneId]) => snapshot.activePane[tabId] === paneId));
  const isPane = (id: string | undefined): boolean =>
    id !== undefined && snapshot.tabs.some((tab) => leavesIn(snapshot, tab.id).some((leaf) => leaf.id === id));
  return {
    ...state,
    view,
    zoomed,
    shown: shown.slice(0, MAX_SHOWN_TABS),
    findingIn: isPane(state.findingIn) ? state.findingIn : undefined,
  };
}

/** The tab and the pane that are shown, and what is around the pane. */
interface ActivePlace {
  readonly tab: LayoutTab;
  readonly root: LayoutNode;
  /** Of the tab, in their order. */
  readonly leaves: readonly LayoutLeaf[];
  readonly leaf: LayoutLeaf;
}

export function activeTab({ view }: DeviceState): LayoutTab | undefined {
  const snapshot = view?.layout.snapshot;
  return snapshot?.tabs.find(({ id }) => id === snapshot.activeTabId);
}

export function activePlace(state: DeviceState): ActivePlace | undefined {
  const tab = activeTab(state);
  const snapshot = state.view?.layout.snapshot;
  if (tab === undefined || snapshot === undefined) return undefined;
  const leaves = leavesIn(snapshot, tab.id);
  const leaf = leaves.find(({ id }) => id === snapshot.activePane[tab.id]);
  const root = snapshot.layouts[tab.id];
  return leaf === undefined || root === undefined ? undefined : { tab, root, leaves, leaf };
}

/** The next or previous tab, wrapping around. */
export function tabAfter({ tabs, activeTabId }: LayoutSnapshot, step: 1 | -1): LayoutTab | undefined {
  const at = tabs.findIndex(({ id }) => id === activeTabId);
  return at < 0 ? tabs[0] : tabs[(at + step + tabs.length) % tabs.length];
}

const MAX_PROGRAM_CHARS = 100;

/** A pane's title: given by people, by its program, or by its kind. */
export function paneTitle({ title, content }: LayoutLeaf, program: string): string {
  if (typeof title === "string" && title !== "") return title;
  switch (content.kind) {
    case "terminal":
      return program.trim() === "" ? "Terminal" : program.slice(0, MAX_PROGRAM_CHARS);
    case "browser":
      return hostOf(content.url);
    case "editor":
      return content.filePath.split("/").at(-1) ?? content.filePath;
    case "claude-chat":
      return "Conversation";
    case "picker":
      return "New pane";
  }
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);
