/** `tmuxwire notify` with the daemon as it is built, an agent in a pane, and an address on loopback. */
import { createServer } from "node:http";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { notifyReceiver } from "../support/agents/notifyReceiver.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";

test("a question is told once over a restart of the daemon and taken back when it is answered; a test is sent; doctor says what fails", async () => {
  await using sandbox = cliSandbox();
  await using channel = await AgentChannel.open(sandbox.root);
  await using receiver = await notifyReceiver();
  const claude = channel.executable("dialog", { busyMs: 0 });
  const bin = sandbox.binaries("bin", { claude });
  const told = (): string[] => receiver.received.map(({ body: { event, state } }) => `${event} ${state}`);
  const notify = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await sandbox.run(["notify", ...args]);
    return `${code} ${stdout}${stderr}`.trim();
  };

  const first = await sandbox.serve();
  expect(await notify()).toBe("0");
  expect(await notify("add", "webhook", `${receiver.url}/secret`, "--on", "asking,ended", "--name", "hook")).toBe(
    `0 hook: webhook ${receiver.url}/..., tells asking ended`,
  );
  expect(await notify("add", "webhook", receiver.url, "--name", "hook")).toMatch(
    /^7 .*there is a channel "hook" already/,
  );
  expect(await notify("rm", "hok")).toMatch(/^3 .*there is no channel "hok".*hook/);
  const path = sandbox.path("state/tmuxwire/notifications.json");
  expect([statSync(path).mode & 0o777, readFileSync(path, "utf8").includes("/secret")]).toEqual([0o600, true]);
  expect(await notify("test", "hook")).toBe("0");
  expect(receiver.received.map(({ url, body }) => [url, body.title])).toEqual([["/secret", "test asks a question"]]);

  const made = await sandbox.run(["new", "work", "--", join(bin, "claude")]);
  expect(made.code).toBe(0);
  await channel.next("ready");
  await channel.tell("ask");
  await eventually(() => receiver.received.length === 2);
  expect(receiver.received[1]!.body).toMatchObject({
    event: "asking",
    state: "open",
    agent: { name: "claude", program: "Claude Code" },
    title: "claude asks a question",
  });
  expect(JSON.stringify(receiver.received[1]!.body)).not.toContain("Bash");

  // A daemon that is killed before it has noted that this was sent sends it again.
  const hasNoted = async (): Promise<boolean> =>
    (await sandbox.run(["notify", "--json"])).stdout.includes('"waiting":0');
  await eventually(hasNoted);
  first.child.kill("SIGKILL");
  await first.finished;
  const second = await sandbox.serve();
  await eventually(async () => (await sandbox.run(["agents", "--json"])).stdout.includes('"state":"asking"'), 100);
  await channel.tell("idle");
  await eventually(() => receiver.received.length === 3);
  expect(told().slice(1)).toEqual(["asking open", "asking withdrawn"]);

  receiver.status = 403;
  expect(await notify("test", "hook")).toMatch(/^69 .*the test was not sent: it responds with status 403/);
  expect(await notify()).toMatch(/^69 hook: .*fails since .*status 403; check its url and token$/);
  const doctor = await sandbox.run(["doctor"]);
  expect(doctor.stdout).toMatch(/notifications hook .*nothing can be sent since/);
  expect(doctor.stdout + doctor.stderr).not.toContain("/secret");
  receiver.status = 200;

  await channel.tell("exit");
  await eventually(() => told().includes("ended open"));
  expect(await notify("rm", "hook")).toBe("0");
  expect(second.stderr() + second.stdout() + first.stderr()).not.toContain("/secret");
});

test("an address that redirects is not followed", async () => {
  await using sandbox = cliSandbox();
  await using receiver = await notifyReceiver();
  const elsewhere = createServer((_request, response) => response.writeHead(307, { location: receiver.url }).end());
  await new Promise<void>((resolve) => void elsewhere.listen(0, "127.0.0.1", resolve));
  try {
    await sandbox.serve();
    const { port } = elsewhere.address() as { readonly port: number };
    await sandbox.run(["notify", "add", "webhook", `http://127.0.0.1:${port}/`]);
    const { code, stderr } = await sandbox.run(["notify", "test", "webhook"]);
    expect([code, receiver.received]).toEqual([69, []]);
    expect(stderr).toContain("it responds with status 307");
  } finally {
    elsewhere.closeAllConnections();
    elsewhere.close();
  }
});
