/** What is still to be noted on panes when the daemon stops. */
import { expect, test } from "vitest";
import type { Agent } from "../../../../../adapters/dashboard/agents/agent.ts";
import { AgentPaneOption } from "../../../../../adapters/dashboard/panes/agentPaneOption.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import type { TmuxServer } from "../../../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";

const PANE = "%1" as PaneId;

test("a stop waits until tmux has every note, also one that it refuses", async () => {
  const answers: ((error?: Error) => void)[] = [];
  const told: unknown[] = [];
  const setPaneUserOption = (_pane: PaneId, _name: string, value: string | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      told.push(value);
      answers.push((error) => (error === undefined ? resolve() : reject(error)));
    });
  const server = { setPaneUserOption } as unknown as TmuxServer;
  const userOptions = new AgentPaneOption({ server, log: silentLog });
  userOptions.set(PANE, { record: { id: 3, sessionUuid: "u" } } as Agent);
  userOptions.set(PANE, undefined);
  let isSettled = false;
  const settled = userOptions.settled().then(() => (isSettled = true));
  answers[0]!();
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(isSettled).toBe(false);
  answers[1]!(new Error("no such pane"));
  await settled;
  expect(told).toEqual(["3:u", undefined]);
});
