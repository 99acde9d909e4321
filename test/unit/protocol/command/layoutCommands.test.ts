import { expect, test } from "vitest";
import * as build from "../../../../protocol/command/layoutCommands.ts";
import type { PaneId, SessionId, WindowId } from "../../../../protocol/ids.ts";

const session = "$3" as SessionId;
const window = { session, window: "@5" as WindowId };
const pane = { ...window, pane: "%7" as PaneId };
const other = { ...window, pane: "%8" as PaneId };

const lines: Readonly<Record<string, readonly [string, string]>> = {
  newWindow: [
    build.newWindow(session, { name: "#S", detached: true, command: ["top"], cwd: "/a b" }),
    String.raw`new-windo -P -F "\043{window_id} \043{pane_id}" -d -n "\043\043S" -t "\0443:" -c "/a b" -- "sh" "-c" "exec \042\0440\042" "top"`,
  ],
  "newWindow behind another": [
    build.newWindow(window, { environment: { A: "1;2" } }),
    String.raw`new-windo -P -F "\043{window_id} \043{pane_id}" -a -t "\0443:@5" -e "A=1\0732"`,
  ],
  splitWindow: [
    build.splitWindow(pane, { direction: "horizontal", size: "30%", before: true, full: true, detached: true }),
    String.raw`split-windo -P -F "\043{window_id} \043{pane_id}" -h -l "30%" -b -f -d -t "\0443:@5.%7"`,
  ],
  joinPane: [
    build.joinPane(pane, other, { size: 5 }),
    String.raw`join-pan -v -l "5" -s "\0443:@5.%7" -t "\0443:@5.%8"`,
  ],
  swapPane: [build.swapPane(pane, other, true), String.raw`swap-pan -d -s "\0443:@5.%7" -t "\0443:@5.%8"`],
  breakPane: [build.breakPane(pane, session, false), String.raw`break-pan -s "\0443:@5.%7" -t "\0443:"`],
  killPane: [build.killPane(pane.pane), "kill-pan -t %7"],
  killWindow: [build.killWindow(window), String.raw`kill-windo -t "\0443:@5"`],
  renameWindow: [build.renameWindow(window, "-#{x}\n"), String.raw`rename-windo -t "\0443:@5" -- "-\043\043{x}\012"`],
  "renameWindow by a pane": [build.renameWindow(pane.pane, "a"), `rename-windo -t %7 -- "a"`],
  selectPane: [build.selectPane(pane, undefined), String.raw`select-pan -t "\0443:@5.%7"`],
  "selectPane beside": [build.selectPane(pane, "left"), String.raw`select-pan -L -t "\0443:@5.%7"`],
  selectWindow: [build.selectWindow(window), String.raw`select-windo -t "\0443:@5"`],
  resizePane: [build.resizePane(pane, 40, "50%"), String.raw`resize-pan -t "\0443:@5.%7" -x "40" -y "50%"`],
  moveBorder: [build.moveBorder(pane, "up", 3), String.raw`resize-pan -U -t "\0443:@5.%7" 3`],
  selectLayout: [build.selectLayout(window, "tiled"), String.raw`select-layou -t "\0443:@5" "tiled"`],
  spreadLayout: [build.spreadLayout(window), String.raw`select-layou -E -t "\0443:@5"`],
  fitWindow: [build.fitWindow(window), String.raw`resize-windo -A -t "\0443:@5"`],
  clearHistory: [build.clearHistory(pane.pane), "clear-histor -t %7"],
  setOwnWindowOption: [
    build.setOwnWindowOption(window, "mode-keys", "vi"),
    String.raw`set-optio -w -t "\0443:@5" mode-keys "vi"`,
  ],
  unsetOwnWindowOption: [
    build.unsetOwnWindowOption(window, "mode-keys"),
    String.raw`set-optio -w -u -t "\0443:@5" mode-keys`,
  ],
};

test.each(Object.entries(lines))("%s", (_name, [line, expected]) => {
  expect(line).toBe(expected);
});

test("every builder is here", () => {
  const tested = new Set(Object.keys(lines).map((name) => name.split(" ")[0]));
  expect(Object.keys(build).filter((name) => !tested.has(name))).toEqual([]);
});
