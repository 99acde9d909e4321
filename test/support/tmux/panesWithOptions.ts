/** What every `TmuxServer` does with user options of panes. */
import { expect } from "vitest";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { MAX_USER_OPTION_CHARS } from "../../../protocol/limits.ts";

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
  "x".repeat(MAX_USER_OPTION_CHARS),
];

/** On a server with at least two panes, none of them marked. */
export async function checkUserOptions(server: TmuxServer, [pane, other]: readonly [PaneId, PaneId]): Promise<void> {
  expect(await server.paneUserOptions("agent")).toEqual(new Map());
  for (const value of VALUES) {
    await server.setPaneUserOption(pane, "agent", value);
    expect(await server.paneUserOptions("agent")).toEqual(new Map([[pane, value]]));
  }
  await server.setPaneUserOption(other, "agent", "8");
  await server.setPaneUserOption(pane, "agent_2", "9");
  expect((await server.paneUserOptions("agent")).get(other)).toBe("8");
  expect(await server.paneUserOptions("agent_2")).toEqual(new Map([[pane, "9"]]));
  await server.setPaneUserOption(pane, "agent", undefined);
  await server.setPaneUserOption(pane, "agent", undefined);
  expect(await server.paneUserOptions("agent")).toEqual(new Map([[other, "8"]]));
  await server.setPaneUserOption(other, "agent", undefined);
  await server.setPaneUserOption(pane, "agent_2", undefined);
  const invalid = { code: "INVALID_ARGUMENT" };
  for (const value of ["", "\ud83e", "x".repeat(MAX_USER_OPTION_CHARS + 1), "→".repeat(MAX_USER_OPTION_CHARS / 8)]) {
    await expect(server.setPaneUserOption(pane, "agent", value)).rejects.toMatchObject(invalid);
  }
  for (const name of ["", "Agent", "a b", "a;b", "1", "title", "x".repeat(33)]) {
    await expect(server.setPaneUserOption(pane, name, "x")).rejects.toMatchObject(invalid);
    await expect(server.paneUserOptions(name)).rejects.toMatchObject(invalid);
  }
  const absent = "%9999" as PaneId;
  await expect(server.setPaneUserOption(absent, "agent", "x")).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await server.paneUserOptions("agent")).toEqual(new Map());
}

/** The active panes of the first two sessions. */
export function twoPanes(server: TmuxServer): readonly [PaneId, PaneId] {
  const [first, second] = server.sessions().map((session) => session.activePane);
  if (first === undefined || second === undefined) throw new Error("not two panes");
  return [first, second];
}
