/** A server that somebody else made is taken over without the secrets it would hand to every new pane. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { eventually } from "../support/clock/eventually.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";

test("the original bridge's token reaches no pane that is made from then on", async () => {
  await using socket = privateSocket();
  const args = ["-f", "/dev/null", "-S", socket.socketPath, "new-session", "-d", "-s", "old"];
  const env = {
    ...paneEnvironment(process.env),
    TMUX_BRIDGE_TOKEN: "br1dge",
    PI_TEAMD_TOKEN: "t3am",
    KEPT_VARIABLE: "kept",
  };
  const made = spawnSync("tmux", [...args, "-e", "TMUX_BRIDGE_TOKEN=s3ssion"], { env, encoding: "utf8" });
  expect(made.stderr).toBe("");
  const environmentOf = async (name: string, make: (command: string) => unknown): Promise<string> => {
    const file = join(socket.directory, name);
    await make(`env >${file}.part; mv ${file}.part ${file}; exec sleep 600`);
    let text = "";
    await eventually(() => {
      try {
        text = readFileSync(file, "utf8");
      } catch {
        // Not written yet.
      }
      return text !== "";
    });
    return text;
  };
  const before = await environmentOf("before", (command) => socket.tmux("new-window", "-d", "-t", "old:", command));
  expect(before).toMatch(/^TMUX_BRIDGE_TOKEN=s3ssion$/m);
  expect(before).toMatch(/^PI_TEAMD_TOKEN=t3am$/m);

  const options = { socketPath: socket.socketPath, env: paneEnvironment(process.env), clock: systemClock };
  await using server = await startOwnedServer(options);
  const texts = [
    await environmentOf("window", (command) => socket.tmux("new-window", "-d", "-t", "old:", command)),
    await environmentOf("session", (command) => server.createSession({ name: "new", command: ["sh", "-c", command] })),
  ];
  for (const text of texts) {
    expect(text).toMatch(/^KEPT_VARIABLE=kept$/m);
    expect(text).not.toMatch(/TMUX_BRIDGE_TOKEN|PI_TEAMD_TOKEN|br1dge|s3ssion|t3am/);
  }
});
