/** The Python client with the system's own Python, against the daemon as people start it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { documentBlocks } from "../support/daemon/documentBlocks.ts";
import { reached } from "../support/daemon/sandboxDaemon.ts";

const FOLDER = resolve(import.meta.dirname, "../../adapters/client/python");
const PYTHON = "/usr/bin/python3";
const hasPython = existsSync(PYTHON);
if (!hasPython) process.stderr.write(`python client: ${PYTHON} is not installed, so nothing runs it here\n`);

function python(sandbox: CliSandbox, program: string, env: Readonly<Record<string, string>> = {}): Running {
  const child = spawn(PYTHON, ["-B", "-u", "-c", program], {
    env: { ...sandbox.env, PYTHONPATH: FOLDER, ...env },
    cwd: sandbox.root,
  });
  return sandbox.adopt(child);
}

test.skipIf(!hasPython)("its document's program prints what is shown", async () => {
  await using sandbox = cliSandbox();
  await sandbox.serve();
  const blocks = documentBlocks("adapters/client/python/README.md");
  const at = blocks.findIndex(({ language }) => language === "python");
  const [program = "", printed = ""] = blocks.slice(at, at + 2).map(({ lines }) => `${lines.join("\n").trimEnd()}\n`);
  expect(await python(sandbox, program).finished).toEqual({ code: 0, stdout: printed, stderr: "" });
});

const FOLLOW = `
import tmuxwire
for event in tmuxwire.connect().server().pane("work").follow(start="snapshot"):
    what = event.get("reason") or event.get("code") or event.get("exitCode") or ""
    print(event["kind"], what)
    if event["kind"] in ("output", "snapshot"):
        for word in event["bytes"].split():
            if word.startswith(b"line-"):
                print("said", word.decode())
`;

test.skipIf(!hasPython)(
  "follow goes on after the daemon was killed, declares the hole, and ends with the pane",
  async () => {
    await using sandbox = cliSandbox();
    const { daemon, server } = await reached(sandbox);
    const command = ["sh", "-c", "stty -echo; while read x; do echo line-$x; done; exit 5"];
    await server.createSession({ name: "work", command });
    const following = python(sandbox, FOLLOW);
    await following.line(/^snapshot/m);
    await server.pane("work").type("1", { enter: true });
    await following.line(/said line-1/);
    const gone = once(daemon.child, "exit");
    daemon.child.kill("SIGKILL");
    await gone;
    const { server: next } = await reached(sandbox);
    await following.line(/^gap epoch\nsnapshot/m);
    await next.pane("work").type("2", { enter: true });
    await following.line(/said line-2/);
    await next.pane("work").keys(["C-d"]);
    const { code, stdout, stderr } = await following.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^closed NOT_FOUND\n$/m);
    expect(stdout.match(/^open/gm)).toHaveLength(1);
    expect(stdout.match(/^gap/gm)).toHaveLength(1);
  },
);

const CALLS = `
import os, tmuxwire
from tmuxwire import TmuxwireError

client = tmuxwire.connect()
server = client.server()
pane = server.pane("work")

def code_of(call):
    try:
        return call()
    except TmuxwireError as error:
        return error.code, error.status, sorted(error.details)

print(client.agents(), client.agents(server="main", state="ready"), code_of(lambda: client.agent("none")), code_of(lambda: client.rename_agent("none", "api")))
print([one["name"] for one in client.servers()], [one["name"] for one in server.sessions()], len(server.panes()))
print(pane.run("sh -c 'exit 7'", timeout=30)["exitCode"])
print(code_of(lambda: pane.wait({"pattern": {"literal": "never"}}, timeout=0.05)))
print("word-3" in pane.wait({"pattern": {"literal": "word-3"}}, timeout=30, send=[{"kind": "text", "text": "echo word-$((1+2))"}, {"kind": "enter"}])["matched"][0]["text"])
pane.wait(prompt=True, timeout=30)
one = pane.submit("echo x >> counted; wc -l < counted", idempotency_key="k")
again = pane.submit("echo x >> counted; wc -l < counted", idempotency_key="k")
print(one["outcome"], again["repeated"], one["position"] == again["position"])
print(code_of(lambda: server.pane("none").info()))
print(code_of(lambda: next(server.pane("none").follow())))
print(code_of(lambda: tmuxwire.connect(token="x" * 40).servers()))
print(code_of(lambda: tmuxwire.connect(socket_path="/nonexistent").servers()))
print(code_of(lambda: pane.keys("NoSuchKey")))
print(code_of(lambda: pane.type("x", profile="claude")), code_of(lambda: pane.keys("x", profile="claude")))
print(code_of(lambda: sorted(pane.type(": for the shell", enter=True, profile="shell"))))
print(client.hosts(), code_of(lambda: client.host("none")), code_of(lambda: client.remove_host("none")), code_of(lambda: client.add_host("far", "-o")))
events = client.agent_events()
print(next(events), client.messages(), code_of(lambda: client.messages(agent="none")), sorted(client.timeline(limit=5)))
events.close()
print(*(code_of(call) for call in (
    lambda: client.tell("none", "x"),
    lambda: client.cancel_message("message-0"),
    lambda: client.wait_agent("none", "ready"),
    lambda: client.answer_agent("none", {"kind": "option", "index": 0}),
    lambda: client.interrupt_agent("none"),
    lambda: client.end_agent("none"),
)))
url = tmuxwire.connect(url=os.environ["URL"])
print(url.server().pane("work").info()["id"] == pane.info()["id"])
`;

test.skipIf(!hasPython)("run, wait, submit, errors by their codes, over the socket and over http", async () => {
  await using sandbox = cliSandbox();
  const { server, url } = await reached(sandbox);
  await server.createSession({ name: "work", command: ["bash", "--norc", "--noprofile", "-i"] });
  await server.pane("work").wait({ prompt: true, from: "tail:1" });
  const { stdout, stderr, code } = await python(sandbox, CALLS, { URL: url }).finished;
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout.trimEnd().split("\n")).toEqual([
    "[] [] ('NOT_FOUND', 404, []) ('NOT_FOUND', 404, [])",
    "['main'] ['work'] 1",
    "7",
    "('TIMEOUT', 408, ['elapsedMs', 'gaps', 'predicates', 'timeoutMs'])",
    "True",
    "submitted True True",
    "('NOT_FOUND', 404, [])",
    "('NOT_FOUND', 404, [])",
    "('UNAUTHORIZED', 401, [])",
    "('DAEMON_UNREACHABLE', 0, [])",
    "('INVALID_ARGUMENT', 400, [])",
    "('WRONG_STATE', 409, ['pane', 'reason']) ('WRONG_STATE', 409, ['pane', 'reason'])",
    "['position']",
    "[] ('NOT_FOUND', 404, []) ('NOT_FOUND', 404, []) ('INVALID_ARGUMENT', 400, [])",
    "{'type': 'agents', 'agents': [], 'messages': []} [] ('NOT_FOUND', 404, []) ['dropped', 'entries', 'keptDays', 'next']",
    Array.from({ length: 6 }, () => "('NOT_FOUND', 404, [])").join(" "),
    "True",
  ]);
});
