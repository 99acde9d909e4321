/** An account without a login shell, and a program that is not there: the message names what was tried. */
import { expect, test } from "vitest";
import { type ServerClient, TmuxwireError } from "../../adapters/client/client.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { reached } from "../support/daemon/sandboxDaemon.ts";

async function serverOf(sandbox: CliSandbox, shell: string | undefined): Promise<ServerClient> {
  const daemon = await sandbox.serve([], { env: { SHELL: shell } });
  return (await reached(sandbox, daemon)).server;
}

/** On a busy machine a program may end after the listing that would miss it: then it has not ended at once. */
async function refusal(make: (name: string) => Promise<unknown>): Promise<string> {
  for (let at = 0; ; at += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await make(`w${at}`);
    } catch (error) {
      if (error instanceof TmuxwireError) return error.message.replace(`w${at}`, "w");
      throw error;
    }
  }
}

test("the shell that was tried, and the SHELL that it came from", async () => {
  await using sandbox = cliSandbox();
  const server = await serverOf(sandbox, "/bin/false");
  expect(await refusal((name) => server.createSession({ name }))).toBe(
    'session w closed at once: the shell "/bin/false" exited immediately (SHELL is "/bin/false" in the tmux server); ' +
      "give a program, or kill the tmux server and set SHELL to a working shell",
  );
});

test("the program that was tried", async () => {
  await using sandbox = cliSandbox();
  const server = await serverOf(sandbox, "/bin/sh");
  const command = ["/no/such/program"];
  expect(await refusal((name) => server.createSession({ name, command }))).toBe(
    'session w closed at once: "/no/such/program" exited immediately; check that it exists and keeps running',
  );
  // By its id: the session's active pane may be one of these that has just ended.
  const { activePane } = await server.createSession({ name: "stays" });
  expect(await refusal(() => server.layout.splitWindow({ pane: activePane ?? "", command }))).toBe(
    'the pane closed at once: "/no/such/program" exited immediately; check that it exists and keeps running',
  );
});
