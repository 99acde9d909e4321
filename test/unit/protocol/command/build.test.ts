/** Each builder's line, as tmux gets it. */
import { expect, test } from "vitest";
import * as build from "../../../../protocol/command/build.ts";
import type { PaneId, SessionId, WindowId } from "../../../../protocol/ids.ts";

const pane = "%7" as PaneId;
const window = "@3" as WindowId;
const session = "$2" as SessionId;
const text = Buffer.from("a;b\n");

const lines: Record<string, readonly [actual: string, expected: string]> = {
  joinGroup: [build.joinGroup(["a", "b", "c"]), "a ; b ; c"],
  displayMessage: [build.displayMessage("#{pane_id}"), 'display-messag -p "\\043{pane_id}"'],
  "displayMessage of a pane": [build.displayMessage("x", pane), 'display-messag -p -t %7 "x"'],
  startProgram: [build.startProgram(), "run-shel -b true"],
  leaveModes: [build.leaveModes(pane), "copy-mod -q -t %7"],
  askInputOff: [build.askInputOff(pane), 'display-messag -p -t %7 "\\043{pane_input_off}"'],
  sendLiteral: [build.sendLiteral(pane, text), 'send-key -l -t %7 -- "a\\073b\\012"'],
  sendBytes: [build.sendBytes(pane, Uint8Array.of(0, 9, 16, 255)), "send-key -H -t %7 00 09 10 ff"],
  sendKeys: [build.sendKeys(pane, ["C-c", "Enter", ";"]), 'send-key -t %7 -- "C-c" "Enter" "\\073"'],
  onlyIf: [
    build.joinGroup(build.onlyIf(pane, { cursor: { col: 3, row: 20 } }, [build.sendKeys(pane, ["Enter"])], "no such")),
    'if-shel -F -t %7 "\\043{==:\\043{cursor_x} \\043{cursor_y},3 20}" ' +
      '"send-key -t %7 -- \\042Enter\\042" "has-sessio -t \\042=no such\\042"',
  ],
  "onlyIf, all of it": [
    build.joinGroup(
      build.onlyIf(pane, { cursor: { col: 3, row: 20 }, pid: 77, command: "claude" }, ["x", "y"], "no such"),
    ),
    'if-shel -F -t %7 "\\043{&&:\\043{==:\\043{cursor_x} \\043{cursor_y},3 20},' +
      '\\043{&&:\\043{==:\\043{pane_pid},77},\\043{==:\\043{pane_current_command},claude}}}" ' +
      '"x \\073 y" "has-sessio -t \\042=no such\\042"',
  ],
  "onlyIf with a name that a format cannot hold": [
    build.joinGroup(build.onlyIf(pane, { pid: 77, command: "a,#(b)}" }, ["x"], "no such")),
    'if-shel -F -t %7 "\\043{==:\\043{pane_pid},77}" "x" "has-sessio -t \\042=no such\\042"',
  ],
  setBuffer: [build.setBuffer("b1", text, false), 'set-buffe -b b1 -- "a\\073b\\012"'],
  "setBuffer, the next piece": [build.setBuffer("b1", text, true), 'set-buffe -a -b b1 -- "a\\073b\\012"'],
  pasteBuffer: [build.pasteBuffer(pane, "b1", { bracketed: false, raw: false }), "paste-buffe -d -r -b b1 -t %7"],
  "pasteBuffer, bracketed": [
    build.pasteBuffer(pane, "b1", { bracketed: true, raw: false }),
    "paste-buffe -d -r -p -b b1 -t %7",
  ],
  "pasteBuffer, raw": [
    build.pasteBuffer(pane, "b1", { bracketed: true, raw: true }),
    "paste-buffe -d -r -S -p -b b1 -t %7",
  ],
  listCommandUsage: [
    build.listCommandUsage("paste-buffer"),
    'list-command -F "\\043{command_list_usage}" paste-buffer',
  ],
  deleteBuffer: [build.deleteBuffer("b1"), "delete-buffe -b b1"],
  bufferSize: [build.bufferSize("b1"), 'list-buffer -F "\\043{buffer_size}" -f "\\043{m:b1,\\043{buffer_name}}"'],
  saveBuffer: [build.saveBuffer("b1", "/dev/shm/a#b"), 'save-buffe -b b1 "/dev/shm/a\\043\\043b"'],
  capturePane: [build.capturePane(pane, {}), "capture-pan -p -t %7"],
  "capturePane into a buffer": [build.capturePane(pane, { buffer: "b1" }), "capture-pan -b b1 -t %7"],
  "capturePane, all of it": [
    build.capturePane(pane, { startLine: -50, joinWrapped: true, escapes: true }),
    "capture-pan -p -t %7 -S -50 -J -e",
  ],
  "capturePane from the top": [
    build.capturePane(pane, { startLine: 0, joinWrapped: false, escapes: false }),
    "capture-pan -p -t %7 -S 0",
  ],
  captureCells: [build.captureCells(pane, "shown"), "capture-pan -p -e -N -t %7"],
  "captureCells behind the alternate screen": [build.captureCells(pane, "saved"), "capture-pan -p -e -N -a -q -t %7"],
  captureJoined: [build.captureJoined(pane, "shown"), "capture-pan -p -J -t %7"],
  captureChunk: [build.captureChunk(pane, -600, -200), "capture-pan -p -e -J -S -600 -E -201 -t %7"],
  captureBoundary: [build.captureBoundary(pane, -200), "capture-pan -p -J -S -201 -E -200 -t %7"],
  captureHistory: [build.captureHistory(pane, 5_000), "capture-pan -p -e -J -S -5000 -E -1 -t %7"],
  capturePending: [build.capturePending(pane), "capture-pan -p -P -C -t %7"],
  resizeWindow: [build.resizeWindow(window, 80, 24), "resize-windo -t @3 -x 80 -y 24"],
  "resizeWindow, in one direction": [build.resizeWindow("=a:", 80, undefined), 'resize-windo -t "=a:" -x 80'],
  renameSession: [build.renameSession("=a:", "-#b"), 'rename-sessio -t "=a:" -- "-\\043\\043b"'],
  unsetWindowOption: [build.unsetWindowOption("=a:", "window-size"), 'set-optio -w -u -t "=a:" window-size'],
  newSession: [
    build.newSession({ name: "work", cols: 80, rows: 24, format: "#{pane_id}" }),
    'new-sessio -d -P -F "\\043{pane_id}" -x 80 -y 24 -s "work"',
  ],
  "newSession, all of it": [
    build.newSession({ name: "a#b", cwd: "/x #(y)", command: ["sh", "-c", "$x"], cols: 1, rows: 2, format: "f" }),
    'new-sessio -d -P -F "f" -x 1 -y 2 -s "a\\043\\043b" -c "/x \\043\\043(y)" -- "sh" "-c" "\\044x"',
  ],
  "newSession with variables and a window's name": [
    build.newSession({ name: "w", format: "f", environment: { A: "x#(y)", B: "" }, windowName: "a#b" }),
    'new-sessio -d -P -F "f" -n "a\\043\\043b" -s "w" -e "A=x\\043(y)" -e "B="',
  ],
  setEnvironment: [build.setEnvironment("A", "$B"), 'set-environmen -g "A" "\\044B"'],
  unsetEnvironment: [build.unsetEnvironment("A"), 'set-environmen -gu "A"'],
  "unsetEnvironment of a session": [build.unsetEnvironment("A", session), 'set-environmen -t "\\0442" -u "A"'],
  linkWindow: [build.linkWindow(window, session), 'link-windo -d -s "@3" -t "\\0442:"'],
  linkWindowOnce: [
    build.joinGroup(build.linkWindowOnce(window, session, "hub")),
    'if-shel -F -t "@3" "\\043{m:*hub*,\\043{window_linked_sessions_list}}" "if-shel -F 0 \\042\\042" "link-windo -d -s \\042@3\\042 -t \\042\\1340442:\\042"',
  ],
  killWindowOnlyIn: [
    build.joinGroup(build.killWindowOnlyIn(window, "hub")),
    'if-shel -F -t "@3" "\\043{==:\\043{window_linked_sessions_list},hub}" "resize-pan -t @3 \\073 kill-windo -t @3" "if-shel -F 0 \\042\\042 \\073 if-shel -F 0 \\042\\042"',
  ],
  unzoom: [build.unzoom(window), "resize-pan -t @3"],
  zoomPane: [
    build.joinGroup(build.zoomPane(pane)),
    'if-shel -F -t "%7" "\\043{&&:\\043{window_zoomed_flag},\\043{pane_active}}" "if-shel -F 0 \\042\\042 \\073 if-shel -F 0 \\042\\042" "resize-pan -t %7 \\073 resize-pan -Z -t %7"',
  ],
  unzoomPane: [
    build.joinGroup(build.unzoomPane(pane)),
    'if-shel -F -t "%7" "\\043{&&:\\043{window_zoomed_flag},\\043{pane_active}}" "resize-pan -t %7" "if-shel -F 0 \\042\\042"',
  ],
  isLinkedTo: [build.isLinkedTo("hub"), "#{m:*hub*,#{window_linked_sessions_list}}"],
  killSession: [build.killSession(session), 'kill-sessio -t "\\0442"'],
  setWindowOption: [
    build.setWindowOption("=work:", "remain-on-exit", "on"),
    'set-optio -w -t "=work:" remain-on-exit "on"',
  ],
  writeNothingAtExit: [build.writeNothingAtExit("=work:"), 'set-optio -wq -t "=work:" remain-on-exit-format ""'],
  setHook: [build.setHook("pane-died", "a ; b"), 'set-hoo -g "pane-died" "a \\073 b"'],
  setSessionHook: [build.setSessionHook(session, "h", "c"), 'set-hoo -t "\\0442" "h" "c"'],
  nextTurn: [build.nextTurn(), "run-shel -d 0"],
  endingInNextTurn: [build.joinGroup(build.endingInNextTurn("x", "y")), "run-shel -d 0 ; x ; y"],
  turnPanesOn: [build.turnPanesOn([pane, "%8" as PaneId])[0]!, 'refresh-clien -A "%7:on" -A "%8:on"'],
  pausePanes: [build.pausePanes([pane, "%8" as PaneId])[0]!, 'refresh-clien -A "%7:pause" -A "%8:pause"'],
  setPaneOption: [build.setPaneOption(pane, "@x", "a%20b#"), 'set-optio -p -t %7 @x "a%20b\\043"'],
  "setPaneOption of a session's pane": [build.setPaneOption("=a b:", "@x", "1"), 'set-optio -p -t "=a b:" @x "1"'],
  unsetPaneOption: [build.unsetPaneOption(pane, "@x"), "set-optio -p -u -t %7 @x"],
  subscribeFormat: [build.subscribeFormat("a", "#{x}", pane), String.raw`refresh-clien -B "a:%7:\043{x}"`],
  unsubscribeFormat: [build.unsubscribeFormat("a"), 'refresh-clien -B "a"'],
  setClientFlags: [build.setClientFlags("pause-after=10"), 'refresh-clien -f "pause-after=10"'],
  switchClient: [build.switchClient(session), 'switch-clien -E -t "\\0442"'],
  listClients: [build.listClients("f"), 'list-client -F "f"'],
  listBufferNames: [
    build.listBufferNames("a*"),
    'list-buffer -F "\\043{buffer_name}" -f "\\043{m:a*,\\043{buffer_name}}"',
  ],
  "newSession with the server's own environment and sizes": [
    build.newSession({ name: "work", format: "f", updateEnvironment: false }),
    'new-sessio -d -E -P -F "f" -s "work"',
  ],
  OFF_BY_OTHERS: [build.OFF_BY_OTHERS, "#{m:*:off*,#{hook_arguments}}"],
  continuePane: [build.continuePane(pane), 'refresh-clien -A "%7:continue"'],
  listSessions: [build.listSessions("f"), 'list-session -F "f"'],
  listAllWindows: [build.listAllWindows("f"), 'list-window -a -F "f"'],
  listAllPanes: [build.listAllPanes("f"), 'list-pane -a -F "f"'],
  listPanesWhere: [build.listPanesWhere("#{pane_dead}"), 'list-pane -a -f "\\043{pane_dead}" -F "\\043{pane_id}"'],
  "listPanesWhere, more than ids": [build.listPanesWhere("a", "b"), 'list-pane -a -f "a" -F "b"'],
  listWindowsWrittenTo: [
    build.listWindowsWrittenTo(17, "f"),
    'list-window -a -f "\\043{>:\\043{window_activity},17}" -F "f"',
  ],
  "renameSession by id": [build.renameSession(session, "a#b"), 'rename-sessio -t "\\0442" -- "a\\043\\043b"'],
  listWindowPanes: [build.listWindowPanes(window, "f"), 'list-pane -t @3 -F "f"'],
};

test.each(Object.entries(lines))("%s", (_builder, [actual, expected]) => {
  expect(actual).toBe(expected);
});

test("every builder is here", () => {
  const tested = new Set(Object.keys(lines).map((name) => name.split(/[ ,]/)[0]));
  expect(Object.keys(build).filter((name) => !tested.has(name))).toEqual([]);
});
