/** What docs/fleet.md shows in its ten minutes is what happens: its commands as they stand, with a real nats-server. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { commandsOf, documentBlocks } from "../support/daemon/documentBlocks.ts";
import { NO_NATS, natsServers, natsVersion } from "../support/daemon/natsServers.ts";
import { eventually } from "../support/clock/eventually.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const BLOCKS = documentBlocks("docs/fleet.md");
if (natsVersion === undefined) process.stderr.write(`fleetDocument: skipped, ${NO_NATS}\n`);

test.skipIf(natsVersion === undefined)("the ten minutes", async () => {
  await using nats = await natsServers();
  await using sandbox = cliSandbox();
  const port = new URL(nats.urls[0] ?? "").port;
  const tmuxwire = `#!/bin/sh\nexec '${process.execPath}' '${builtCli()}' "$@"\n`;
  const PATH = [sandbox.binaries("bin", { tmuxwire }), sandbox.env["PATH"]].join(delimiter);
  const commands = BLOCKS.filter(({ language }) => language === "").flatMap(commandsOf);
  const start = (has: string, more = ""): Running => {
    const found = commands.find((command) => command.includes(has));
    if (found === undefined) throw new Error(`docs/fleet.md no longer shows ${has}`);
    const line = `exec ${found.replaceAll("4222", port)} ${more}`;
    return sandbox.adopt(
      spawn("bash", ["-c", line], {
        env: { ...sandbox.env, PATH },
        cwd: sandbox.path("home"),
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  };
  const daemon = start("tmuxwire serve", "--only native,nats --port 0");
  await daemon.line(/listening on unix:/);
  const made = await sandbox.run([
    "new",
    "work",
    "--",
    "sh",
    "-c",
    "stty -echo; echo shown; read x; echo got-$x; read y",
  ]);
  const pane = made.stdout.trim();
  const watching = start("tmuxwire ls -w");
  await watching.line(/^build7 main[\s\S]*work /m);

  const listed = await start("tmuxwire ls --nats").finished;
  expect(listed.stdout).toMatch(new RegExp(`^build7 main \\(told .*\\)\nwork [^]*${pane}`));
  const screen = start("tmuxwire follow work");
  await screen.line(/shown/);
  const events = sandbox.start(
    commands
      .find((command) => command.startsWith("tmuxwire follow %5"))!
      .replaceAll("4222", port)
      .replace("%5", pane)
      .split(" ")
      .slice(1),
  );
  await events.line(/"kind":"open"/);

  const program = BLOCKS.find(({ lines }) => lines.some((line) => line.includes("FleetClient(await")))!;
  const home = sandbox.path("home");
  mkdirSync(join(home, "node_modules"));
  symlinkSync(ROOT, join(home, "node_modules", "tmuxwire"));
  symlinkSync(join(ROOT, "node_modules", "@nats-io"), join(home, "node_modules", "@nats-io"));
  writeFileSync(join(home, "fleet.mjs"), program.lines.join("\n").replaceAll("4222", port).replaceAll("%5", pane));
  const following = sandbox.adopt(spawn(process.execPath, ["fleet.mjs"], { cwd: home, env: { ...sandbox.env, PATH } }));
  await following.line(/snapshot/);

  await sandbox.run(["send", pane, "typed", "--enter"]);
  await screen.line(/got-typed/);
  await following.line(/output/);
  await eventually(() =>
    events
      .stdout()
      .split("\n")
      .some(
        (line) => line.includes(`"kind":"output"`) && Buffer.from(JSON.parse(line).data, "base64").includes("typed"),
      ),
  );
  await sandbox.run(["new", "later"]);
  await watching.line(/later/);
});
