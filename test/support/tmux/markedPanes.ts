/** What every `TmuxServer` does with marks on panes. */
import { expect } from "vitest";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { MAX_PANE_MARK_CHARS } from "../../../protocol/limits.ts";

const VALUES = [
  "7",
  "0",
  " ",
  "no",
  "-x",
  "a;b",
  "a b\n%exit\n",
  "\u0000\u0001\u007f\u00ff",
  "#{pid}#(touch /tmp/never),}",
  "%41 is not A",
  `"'\\$~`,
  "ünï→🦊",
  "x".repeat(MAX_PANE_MARK_CHARS),
];

/** On a server with at least two panes, none of them marked. */
export async function checkMarks(server: TmuxServer, [pane, other]: readonly [PaneId, PaneId]): Promise<void> {
  expect(await server.paneMarks("agent")).toEqual(new Map());
  for (const value of VALUES) {
    await server.setPaneMark(pane, "agent", value);
    expect(await server.paneMarks("agent")).toEqual(new Map([[pane, value]]));
  }
  await server.setPaneMark(other, "agent", "8");
  await server.setPaneMark(pane, "agent_2", "9");
  expect((await server.paneMarks("agent")).get(other)).toBe("8");
  expect(await server.paneMarks("agent_2")).toEqual(new Map([[pane, "9"]]));
  await server.setPaneMark(pane, "agent", undefined);
  await server.setPaneMark(pane, "agent", undefined);
  expect(await server.paneMarks("agent")).toEqual(new Map([[other, "8"]]));
  await server.setPaneMark(other, "agent", undefined);
  await server.setPaneMark(pane, "agent_2", undefined);
  const invalid = { code: "INVALID_ARGUMENT" };
  for (const value of ["", "\ud83e", "x".repeat(MAX_PANE_MARK_CHARS + 1), "→".repeat(MAX_PANE_MARK_CHARS / 8)]) {
    await expect(server.setPaneMark(pane, "agent", value)).rejects.toMatchObject(invalid);
  }
  for (const name of ["", "Agent", "a b", "a;b", "1", "title", "x".repeat(33)]) {
    await expect(server.setPaneMark(pane, name, "x")).rejects.toMatchObject(invalid);
    await expect(server.paneMarks(name)).rejects.toMatchObject(invalid);
  }
  const absent = "%9999" as PaneId;
  await expect(server.setPaneMark(absent, "agent", "x")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await server.paneMarks("agent")).toEqual(new Map());
}

/** The active panes of the first two sessions. */
export function twoPanes(server: TmuxServer): readonly [PaneId, PaneId] {
  const [first, second] = server.sessions().map((session) => session.activePane);
  if (first === undefined || second === undefined) throw new Error("not two panes");
  return [first, second];
}
