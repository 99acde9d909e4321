/** User options on the stub's panes, and what it calls itself. */
import { expect, test } from "vitest";
import { stubBackend } from "../../../support/daemon/backends.ts";
import { checkUserOptions, twoPanes } from "../../../support/tmux/panesWithOptions.ts";

test("user options are kept per pane and name, and go with the pane", async () => {
  const backend = await stubBackend.start();
  const { server } = backend;
  const { id } = await server.createSession({ name: "a" });
  await server.createSession({ name: "b" });
  const panes = twoPanes(server);
  await checkUserOptions(server, panes);
  await server.setPaneUserOption(panes[0], "agent", "7");
  await server.killSession(id);
  expect(await server.paneUserOptions("agent")).toEqual(new Map());
  expect(server.status().identity).toBe("stub");
  await backend.close();
  await expect(server.paneUserOptions("agent")).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
});
