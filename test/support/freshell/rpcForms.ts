/** Requests to owners by their form: what changes a layout, what needs its owner, and what no owner hears of. */
import { requestOf } from "./fakeOwner.ts";

/** Selectors. */
export interface Places {
  readonly tab: string;
  readonly pane: string;
  readonly second: string;
  /** A page of the web, which the pane shows. */
  readonly url: string;
}
const FAKE_PLACES: Places = { tab: "tab:t1", pane: "pane:p1", second: "pane:p2", url: "https://h/" };

type Form = readonly [command: string, args: object];

/** One of each of the forms that change a layout and nothing else (§6.1). The tab's title is `a:b c`. */
export const layoutForms = ({ tab, pane, second, url }: Places = FAKE_PLACES): readonly Form[] => [
  ["new-tab", { browser: url }],
  ["kill-tab", { target: tab }],
  ["rename-tab", { target: "tab-name:a:b c", title: "new" }],
  ["select-tab", { target: "tab-index:0" }],
  ["split-pane", { target: pane, direction: "horizontal", browser: url }],
  ["split-pane", { target: "pane-index:0", tab, direction: "vertical", editor: "/f" }],
  ["kill-pane", { target: pane }],
  ["resize-pane", { target: pane, x: 30 }],
  ["swap-pane", { source: pane, target: second }],
  ["select-pane", { target: pane }],
  ["open-browser", { target: pane, url }],
  ["navigate", { target: pane, url }],
  ["open-editor", { target: pane, filePath: "/f" }],
];

/** All that cannot be done while the owner is away (§6.5), but for `attach-terminal`. */
export const ownerForms = (places: Places = FAKE_PLACES): readonly Form[] => {
  const { pane: target } = places;
  return [
    ...layoutForms(places),
    ["new-tab", {}],
    ["split-pane", { target, direction: "horizontal", shell: "system" }],
    ["respawn-pane", { target }],
    ["send-keys", { target, keys: ["a"] }],
    ["capture-pane", { target }],
    ["wait-for", { target, exit: true }],
    ["read", {}],
    ["resolve", { target }],
  ];
};

/** Each is INVALID_ARGUMENT before any owner is asked. */
export function wrongRequests(deviceId: string): readonly (readonly [string, Record<string, unknown>])[] {
  const of = (command: string, args: object, fields: object = {}): Record<string, unknown> =>
    requestOf(command, deviceId, args, fields);
  const killPane = (fields: object): Record<string, unknown> => of("kill-pane", { target: "pane:p1" }, fields);
  const url = (text: string): Record<string, unknown> => of("navigate", { target: "pane:p1", url: text });
  const both = { direction: "vertical", browser: "http://h", editor: "/f" };
  return [
    ["a phase", killPane({ phase: "finalize" })],
    ["a reservation", killPane({ reservationId: "r" })],
    ["a command of the prototype", killPane({ command: "__proto__" })],
    ["an unknown command", killPane({ command: "new-window" })],
    ["F180: no revision", killPane({ expectedRevision: undefined })],
    ["F159: no key", of("new-tab", {}, { idempotencyKey: undefined })],
    [
      "F097: no key to attach with",
      of("attach-terminal", { target: "terminal:x", to: "pane:p1" }, { idempotencyKey: undefined }),
    ],
    ["a key of 129 characters", of("new-tab", {}, { idempotencyKey: "k".repeat(129) })],
    ["F061: javascript:", url("javascript:alert(1)")],
    ["file:", url("file:///etc/passwd")],
    ["a password", url("http://user:pw@example.org/")],
    ["a blank", url("http://example.org/a b")],
    ["no URL", url("not a url")],
    ["2,049 characters", url(`http://example.org/${"x".repeat(2_030)}`)],
    ["F038: pane-index without a tab", of("kill-pane", { target: "pane-index:0" })],
    ["F036: an index that is none", of("kill-tab", { target: "tab-index:-1" })],
    ["F045: a prefix that is none", of("kill-tab", { target: "foo:1" })],
    ["F045: nothing behind the prefix", of("kill-tab", { target: "tab:" })],
    ["a title with a control character", of("rename-tab", { target: "tab:t1", title: "a\u0007" })],
    ["a title of 257 characters", of("rename-tab", { target: "tab:t1", title: "x".repeat(257) })],
    ["F050: an empty title", of("rename-tab", { target: "tab:t1", title: "" })],
    ["F054: no direction", of("split-pane", { target: "pane:p1" })],
    ["F055: two contents", of("split-pane", { target: "pane:p1", ...both })],
    ["F057: no axis", of("resize-pane", { target: "pane:p1" })],
    ["F057: 0 percent", of("resize-pane", { target: "pane:p1", x: 0 })],
    ["F057: 100 percent", of("resize-pane", { target: "pane:p1", y: 100 })],
    ["F007: tmux's target words", of("kill-pane", { target: "0:1.2" })],
    ["a field that is not there", of("kill-pane", { target: "pane:p1", force: true })],
  ];
}
