/** The built `freshell` against the daemon and real tmux: keys as they arrive, captures as tmux makes them, waits that end. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type {
  FreshellWaitResponse,
  TerminalCaptureResponse,
  TerminalEntry,
} from "../../protocol/api/freshell/freshellHttp.ts";
import type { FreshellScene } from "../support/freshell/freshellScene.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { AUTH_TOKEN, freshellScene } from "../support/freshell/freshellScene.ts";

let scene: FreshellScene;
beforeAll(async () => {
  scene = await freshellScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const of = (terminalId: string): readonly [string, string] => ["--target", `terminal:${terminalId}`];

/** In raw mode: reads so many bytes and writes them to a file. */
async function reading(terminalId: string, bytes: number): Promise<{ readonly received: () => Promise<Buffer> }> {
  const path = scene.sandbox.path(`got-${terminalId}`);
  const program = `process.stdin.setRawMode(true); let all = Buffer.alloc(0); console.log("reading" + ";");
process.stdin.on("data", (some) => { all = Buffer.concat([all, some]); if (all.length < ${bytes}) return;
require("node:fs").writeFileSync(${JSON.stringify(path)}, all); console.log("received" + ";"); process.exit(); })`;
  const line = `${process.execPath} -e '${program.replaceAll("\n", " ")}'`;
  await scene.data("send-keys", ...of(terminalId), "-l", "--", line);
  await scene.data("send-keys", ...of(terminalId), "Enter");
  await scene.data("wait-for", ...of(terminalId), "-p", "reading;", "--from", "tail:100");
  return {
    received: async () => {
      await scene.data("wait-for", ...of(terminalId), "-p", "received;", "--from", "tail:100");
      return readFileSync(path);
    },
  };
}

describe("send-keys", () => {
  test("F071 F072 F073 F076 keys and text arrive in their order, as one job", async () => {
    const terminal = await scene.terminal();
    const expected = Buffer.from("abcd\r\u001b[A\u0003\t\u001b[Z\u007f\u001b \u001bxe nter", "latin1");
    const { received } = await reading(terminal, expected.length);
    await scene.data(
      "send-keys",
      ...of(terminal),
      "abc",
      "d",
      "Enter",
      "up",
      "c-C",
      "Tab",
      "BTab",
      "BSPACE",
      "Escape",
      "Space",
      "M-x",
      "e nter",
    );
    expect((await received()).toString("latin1")).toBe(expected.toString("latin1"));
  });

  test("F074 F229 literal tokens are text, joined with a space, whatever they look like", async () => {
    const terminal = await scene.terminal();
    const expected = "-l Enter --json C-c; 'x' \"$HOME\" \\ é漢🙂";
    const { received } = await reading(terminal, Buffer.byteLength(expected));
    await scene.data("send-keys", ...of(terminal), "-l", "--", "-l", "Enter", "--json", "C-c; 'x' \"$HOME\" \\ é漢🙂");
    expect((await received()).toString("utf8")).toBe(expected);
  });

  test("F075 64 KiB arrive byte for byte", async () => {
    const terminal = await scene.terminal();
    const some = Array.from({ length: 94 }, (_, at) => String.fromCodePoint(33 + at)).join("");
    const text = `${some} é漢🙂;\t`.repeat(1_000).slice(0, 65_536 - 32);
    const { received } = await reading(terminal, Buffer.byteLength(text));
    await scene.data("send-keys", ...of(terminal), "-l", "--", text);
    const sha = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
    expect(sha(await received())).toBe(sha(Buffer.from(text)));
  });
});

describe("capture-pane", () => {
  let terminal: string;
  beforeAll(async () => {
    terminal = await scene.terminal();
    const printed =
      "seq 200; printf 'x%.0s' $(seq 200); printf '\\n\\033[31mred\\033[0m \\033[1mbold\\033[0m\\n'; echo printed-$((1+1))";
    await scene.data("send-keys", ...of(terminal), printed, "Enter");
    await scene.data("wait-for", ...of(terminal), "-p", "printed-2", "--from", "tail:50");
    await scene.data("wait-for", ...of(terminal), "--prompt", "--from", "tail:2");
  });

  test.each([
    [[]],
    [["-S", "0"]],
    [["-S", "5"]],
    [["-S", "23"]],
    [["-S", "24"]],
    [["-S", "1000"]],
    [["-S", "-1"]],
    [["-S", "-5"]],
    [["-S", "-100000"]],
    [["-S", "-"]],
    [["-e"]],
    [["-S", "-", "-e"]],
    [["-S", "-", "-J"]],
    [["-S", "-30", "-J", "-e"]],
    [["-S-10"]],
  ] as const)("F080-F084 %j: what tmux's own prints", async (options) => {
    const { code, stdout } = await scene.run("capture-pane", ...of(terminal), ...options);
    expect(code).toBe(0);
    expect(stdout).toBe(await scene.tmux(terminal, "capture-pane", "-p", ...options));
  });

  test("--json holds the same lines", async () => {
    const { lines, cols, rows, status } = await scene.data<TerminalCaptureResponse>(
      "capture-pane",
      ...of(terminal),
      "-S",
      "-",
    );
    expect([cols, rows, status]).toEqual([80, 24, "running"]);
    expect(`${lines.join("\n")}\n`).toBe(await scene.tmux(terminal, "capture-pane", "-p", "-S", "-"));
  });
});

describe("wait-for", () => {
  test("what send-keys has typed is waited for", async () => {
    const terminal = await scene.terminal();
    const wait = scene.data<FreshellWaitResponse>("wait-for", ...of(terminal), "-p", "done-2", "--from", "tail:50");
    await scene.data("send-keys", ...of(terminal), "echo done-$((1+1))", "Enter");
    const { matched } = await wait;
    expect(matched).toMatchObject([{ predicate: "pattern", text: "done-2" }]);
  });

  test("F121 F122 F125 F130 F139 bad input, limits and time-outs have their exit codes", async () => {
    const terminal = await scene.terminal();
    const refused = async (...args: string[]) => {
      const { exitCode, code } = await scene.refusal("wait-for", ...of(terminal), ...args);
      return [exitCode, code];
    };
    expect(await refused("-p", "never", "-T", "0.2")).toEqual([124, "TIMEOUT"]);
    expect(await refused("--exit", "-T", "3601")).toEqual([8, "RESOURCE_LIMIT"]);
    expect(await refused("-p", "é".repeat(2_049))).toEqual([8, "RESOURCE_LIMIT"]);
    expect(await refused("--regex", "-p", "(?=x)")).toEqual([2, "INVALID_ARGUMENT"]);
    expect(await refused("--regex", "-p", "(a")).toEqual([2, "INVALID_ARGUMENT"]);
    expect(await refused("-p", "x", "--from", "tail:0")).toEqual([2, "INVALID_ARGUMENT"]);
    const wait = scene.refusal("wait-for", ...of(terminal), "-p", "never", "-T", "600");
    await waits(1);
    await scene.data("kill-terminal", ...of(terminal));
    expect(await wait).toMatchObject({ exitCode: 3, code: "NOT_FOUND" });
  });

  test("F135 one that is interrupted is gone at the server too", async () => {
    const terminal = await scene.terminal();
    const wait = scene.start("wait-for", ...of(terminal), "-p", "never", "-T", "600");
    await waits(1);
    wait.child.kill("SIGINT");
    expect(await wait.finished).toEqual({ code: 130, stdout: "", stderr: "" });
    await waits(0);
  });
});

/** Until the server has so many waits. */
async function waits(count: number): Promise<void> {
  const wanted = new RegExp(`^wait_active ${count}$`, "m");
  await vi.waitFor(async () => expect(await metrics()).toMatch(wanted), { timeout: 30_000, interval: 20 });
}

async function metrics(): Promise<string> {
  const response = await fetch(`${scene.url}/api/metrics`, { headers: { "x-auth-token": AUTH_TOKEN } });
  return response.text();
}

describe("the life of a terminal", () => {
  test.skipIf(!keepsPanes())(
    "F009 F069 F070 F079 ends, is read, begins again under its id, and is forgotten",
    async () => {
      const terminal = await scene.terminal();
      const entry = async (): Promise<TerminalEntry | undefined> =>
        (await scene.data<readonly TerminalEntry[]>("list-terminals")).find(
          ({ terminalId }) => terminalId === terminal,
        );
      const first = await entry();
      await scene.data("send-keys", ...of(terminal), "echo last-$((1+1)); exit 3", "Enter");
      expect((await scene.run("wait-for", ...of(terminal), "--exit")).stdout).toBe("exit: 3\n");
      expect(await entry()).toMatchObject({ status: "exited", exitCode: 3 });
      expect((await scene.run("capture-pane", ...of(terminal))).stdout).toContain("last-2\n");
      expect(await scene.refusal("send-keys", ...of(terminal), "x")).toMatchObject({
        exitCode: 4,
        code: "INVALID_TARGET",
      });
      const again = await scene.data<TerminalEntry>("respawn-terminal", ...of(terminal));
      expect(again).toMatchObject({ terminalId: terminal, status: "running" });
      expect(again.pid).not.toBe(first?.pid);
      expect(await scene.data("kill-terminal", ...of(terminal))).toMatchObject({ ok: true });
      expect(await scene.refusal("kill-terminal", ...of(terminal))).toMatchObject({ exitCode: 3, code: "NOT_FOUND" });
      expect(await scene.refusal("capture-pane", ...of(terminal))).toMatchObject({ exitCode: 3, code: "NOT_FOUND" });
    },
  );

  test("F196 the environment of a pane leads back here, and holds no token", async () => {
    const terminal = await scene.terminal();
    await scene.data("send-keys", ...of(terminal), "clear; env | grep -E 'FRESHELL|TOKEN'; echo all-$((1+1))", "Enter");
    await scene.data("wait-for", ...of(terminal), "-p", "all-2", "--from", "tail:50");
    const { stdout } = await scene.run("capture-pane", ...of(terminal), "-J");
    expect(
      stdout
        .split("\n")
        // tmux before 3.3 joins rows with the blanks at their ends.
        .map((line) => line.trimEnd())
        .filter((line) => /^[A-Z_]+=/.test(line))
        .toSorted(),
    ).toEqual([`FRESHELL_TERMINAL_ID=${terminal}`, `FRESHELL_URL=${scene.url}`]);
  });
});

describe("logins", () => {
  test("F017 of ten first commands at once, all are one device", async () => {
    const home = scene.sandbox.path("fresh");
    const env = { FRESHELL_HOME: home, FRESHELL_URL: scene.url };
    const script = "freshell.js";
    const read = () => readFileSync(`${home}/.freshell/cli-device.json`, "utf8");
    const ids = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { stdout } = await scene.sandbox.run(["display", "-p", "%deviceId"], { script, env });
        return stdout.trim();
      }),
    );
    expect(new Set(ids)).toEqual(new Set([(JSON.parse(read()) as { deviceId: string }).deviceId]));
  });

  test("F190 F192 F202 F203 are renewed, by several at once too, and end", async () => {
    const before = await scene.data<{ expiresAt: number }>("auth", "status");
    const all = await Promise.all(Array.from({ length: 4 }, () => scene.run("auth", "refresh", "--json")));
    expect(all.map(({ code, stderr }) => [code, stderr])).toEqual(all.map(() => [0, ""]));
    expect((await scene.data<{ expiresAt: number }>("auth", "status")).expiresAt).toBeGreaterThan(before.expiresAt);
    expect((await scene.run("list-terminals")).code).toBe(0);
    const path = scene.sandbox.path("home/.freshell/cli-auth.json");
    const { refreshToken } = JSON.parse(readFileSync(path, "utf8")) as { refreshToken: string };
    expect((await scene.run("auth", "logout")).code).toBe(0);
    const response = await fetch(`${scene.url}/api/device-sessions/refresh`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ refreshToken }),
    });
    expect(response.status).toBe(401);
    expect(await scene.refusal("list-terminals")).toMatchObject({ exitCode: 6, code: "UNAUTHORIZED" });
  });
});
