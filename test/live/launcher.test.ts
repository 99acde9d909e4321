/** What a control client is started through: it passes on three descriptors, the environment as it is, and the signals. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { launcher } from "../../daemon/host/clients/launcher.ts";

/** Runs `command` with fourteen descriptors open above the first three; what it prints. */
async function launched(
  start: readonly string[],
  env: Readonly<Record<string, string>>,
  command: readonly string[],
): Promise<{ readonly stdout: string; readonly code: unknown }> {
  const leak = openSync("/dev/null", "r");
  const [file = "", ...args] = [...start, ...command];
  const more = Array.from({ length: 14 }, () => leak);
  const child = spawn(file, args, { env: { ...env }, stdio: ["ignore", "pipe", "inherit", ...more] });
  let stdout = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  const [code] = (await once(child, "close")) as [unknown];
  return { stdout, code };
}

/** A client that is never written to. */
function onPipes(env: Readonly<Record<string, string>>, script: string) {
  const [file, ...args] = [...launcher(env, "tmux 3.2a", "unused"), "/bin/sh", "-c", script];
  return spawn(file, args, { env: { ...env }, stdio: ["pipe", "pipe", "ignore"] });
}

/** The descriptors that the command sees; `node` opens its own, so `sh` looks. */
const LOOK = ["/bin/sh", "-c", 'cd /proc/self/fd; for f in *; do [ -e "/proc/$$/fd/$f" ] && echo "$f"; done; exit 7'];

function onlyWith(...names: readonly string[]): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "tw-"));
  for (const name of names) symlinkSync(`/usr/bin/${name}`, join(path, name));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

const PROGRAMS = ["bash", "perl"].filter((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!existsSync("/proc/self/fd"))("with /proc", () => {
  for (const version of ["tmux 3.3a", "tmux 3.2a"]) {
    test.each(PROGRAMS)(`${version}: nothing but the first three, by %s`, async (program) => {
      using directory = onlyWith(program);
      const env = { PATH: directory.path, A: "a b" };
      const bare = await launched([], env, LOOK);
      expect(bare.stdout.split("\n")).toContain("16");
      const { stdout, code } = await launched(launcher(env, version), env, LOOK);
      expect(stdout).toBe("0\n1\n2\n");
      expect(code).toBe(7);
    });

    test.each([...PROGRAMS, "sh"])(`${version}: its input, by %s`, async (program) => {
      using directory = onlyWith(...PROGRAMS.filter((name) => name === program));
      const env = { PATH: directory.path };
      const [file, ...args] = [...launcher(env, version), "/bin/cat"];
      const child = spawn(file, args, { env, stdio: ["pipe", "pipe", "inherit"] });
      child.stdin.end("typed");
      const [text] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
      expect(text).toBe("typed");
      await once(child, "close");
    });

    test.each([...PROGRAMS, "sh"])(`${version}: arguments and environment as they are, by %s`, async (program) => {
      using directory = onlyWith(...PROGRAMS.filter((name) => name === program));
      const env = { PATH: directory.path, A: "a b", PWD: process.cwd() };
      const start = launcher(env, version);
      const printed = await launched(start, env, ["/usr/bin/printf", "<%s>", "a b", "$(id)", "", "'\"\n*"]);
      expect(printed.stdout).toBe("<a b><$(id)><><'\"\n*>");
      const variables = async (by: readonly string[]): Promise<readonly string[]> =>
        (await launched(by, env, ["/usr/bin/env"])).stdout.split("\n").sort();
      expect(await variables(start)).toEqual(await variables([]));
    });
  }

  // tmux 3.2 lists no client that is on its way out, and does not end while it is there (docs/tmuxFacts.md 3a).
  test.each([...PROGRAMS, "sh"])(
    "tmux 3.2a: on pipes, whose other end has gone with the daemon, by %s",
    async (program) => {
      using directory = onlyWith(...PROGRAMS.filter((name) => name === program));
      const env = { PATH: directory.path };
      const child = onPipes(env, "echo $$; while :; do /bin/sleep 1; done");
      const [pid] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
      child.stdin.destroy();
      const [, signal] = (await once(child, "exit")) as [unknown, unknown];
      expect(signal).toBe(null);
      expect(existsSync(`/proc/${pid.trim()}`)).toBe(false);
    },
  );

  test("tmux 3.2a: on pipes, one that ends by itself, with its own code and all that it has said", async () => {
    const child = onPipes({ PATH: "/usr/bin" }, "echo said; exit 7");
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const [code] = (await once(child, "close")) as [unknown];
    expect([code, stdout]).toEqual([7, "said\n"]);
  });
});
