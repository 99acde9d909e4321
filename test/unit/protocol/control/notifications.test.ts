import { describe, expect, test } from "vitest";
import { parseNotification } from "../../../../protocol/control/notifications.ts";

describe("parseNotification", () => {
  test.each([
    ["%exit", { kind: "exit", reason: undefined }],
    ["%exit server exited unexpectedly", { kind: "exit", reason: "server exited unexpectedly" }],
    ["%pause %4", { kind: "pause", pane: "%4" }],
    ["%continue %4", { kind: "continue", pane: "%4" }],
    ["%pane-mode-changed %4", { kind: "pane-mode-changed", pane: "%4" }],
    ["%session-changed $1 work", { kind: "session-changed", session: "$1", name: "work" }],
    ["%session-changed $1 two words ", { kind: "session-changed", session: "$1", name: "two words " }],
    ["%session-changed $1", { kind: "session-changed", session: "$1", name: "" }],
    ["%session-renamed $12 é", { kind: "session-renamed", session: "$12", name: "é" }],
    ["%sessions-changed", { kind: "sessions-changed" }],
    ["%session-window-changed $1 @2", { kind: "session-window-changed", session: "$1", window: "@2" }],
    ["%window-add @5", { kind: "window-add", window: "@5", linked: true }],
    ["%unlinked-window-add @5", { kind: "window-add", window: "@5", linked: false }],
    ["%window-close @5", { kind: "window-close", window: "@5", linked: true }],
    ["%unlinked-window-close @5", { kind: "window-close", window: "@5", linked: false }],
    ["%window-renamed @5 some name", { kind: "window-renamed", window: "@5", linked: true }],
    ["%unlinked-window-renamed @5 x", { kind: "window-renamed", window: "@5", linked: false }],
    ["%window-pane-changed @5 %6", { kind: "window-pane-changed", window: "@5", pane: "%6" }],
    ["%layout-change @0 b25d,80x24,0,0,0 b25d,80x24,0,0,0 *", { kind: "layout-change", window: "@0" }],
    ["%client-session-changed /dev/pts/3 $2 name", { kind: "client-session-changed", session: "$2" }],
    ["%client-session-changed client-77 $2 a $3 b", { kind: "client-session-changed", session: "$2" }],
    ["%client-detached /dev/pts/3", { kind: "client-detached" }],
    ["%subscription-changed some $1 @2 3 %4 : a : b ", { kind: "subscription-changed", name: "some", value: "a : b " }],
  ])("%s", (line, notification) => {
    expect(parseNotification(line)).toEqual(notification);
  });

  test.each([
    "%pause",
    "%pause ",
    "%pause 4",
    "%pause @4",
    "%pause %",
    "%pause %4x",
    "%pause %12345678901",
    "%pause-everything %4",
    "%continue $1",
    "%pane-mode-changed",
    "%session-changed work",
    "%session-changed  $1 work",
    "%session-renamed @1 x",
    "%session-window-changed $1",
    "%session-window-changed @1 $1",
    "%window-add",
    "%window-add %1",
    "%unlinked-window-close 5",
    "%window-pane-changed @5",
    "%window-pane-changed %5 @6",
    "%window-pane-changed %5 %6",
    "%window-pane-changed @5 @6",
    "%session-window-changed @1 @2",
    "%session-window-changed $1 $2",
    "%layout-change",
    "%client-session-changed $1",
    "%client-session-changed client-77 name",
    "%Pause %4",
    "%begin 1 2 1",
    "%config-error x",
    "%",
    "%%",
    "%constructor",
  ])("%s is other", (line) => {
    expect(parseNotification(line)).toEqual({ kind: "other", keyword: line.split(" ")[0], text: line });
  });

  test("a line that is no notification is other without a keyword", () => {
    expect(parseNotification("no server running")).toEqual({ kind: "other", keyword: "", text: "no server running" });
    expect(parseNotification("")).toEqual({ kind: "other", keyword: "", text: "" });
  });

  test("nothing of an unknown line is kept at length", () => {
    const line = `%${"k".repeat(1_000)} ${"v".repeat(1_000)}`;
    expect(parseNotification(line)).toEqual({
      kind: "other",
      keyword: line.slice(0, 64),
      text: `${line.slice(0, 199)}…`,
    });
  });
});
