/** The guest's socket: which one it is, whether anything listens, and when it appears. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { linuxHost } from "../../../../../daemon/host/linux/linuxHost.ts";
import { reachedTmuxSocket } from "../../../../../daemon/ops/runtimePaths.ts";
import { SocketWatch, trySocket } from "../../../../../daemon/servers/guest/guestSocket.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

const { sockets } = linuxHost();
let directory = "";
beforeEach(() => {
  directory = ownDirectory();
});

test.each([
  [{}, "/tmp/tmux-7/default"],
  [{ TMUX_TMPDIR: "/run/u" }, "/run/u/tmux-7/default"],
  [{ TMUX_TMPDIR: "" }, "/tmp/tmux-7/default"],
  [{ TMUX: "/some/where,123,0", TMUX_TMPDIR: "/run/u" }, "/some/where"],
  [{ TMUX: "/with,comma,123,0" }, "/with,comma"],
  [{ TMUX: "" }, "/tmp/tmux-7/default"],
])("in %o the default is %s", (env, path) => {
  expect(reachedTmuxSocket(env, 7)).toBe(path);
});

test("nothing listens where there is no file, a stale one, or something else", async () => {
  const path = join(directory, "tmux.sock");
  const refused = { code: "CONNECTION_LOST", message: expect.stringContaining(path) as string };
  expect(await trySocket(sockets, path)).toMatchObject(refused);
  writeFileSync(path, "");
  expect(await trySocket(sockets, path)).toMatchObject(refused);
  rmSync(path);
  const server = createServer((client) => client.destroy()).listen(path);
  await new Promise((resolve) => server.once("listening", resolve));
  expect(await trySocket(sockets, path)).toBeUndefined();
  server.close();
});

test("the file is noticed when it appears, again and again", async () => {
  const path = join(directory, "tmux.sock");
  let tell: () => void = () => undefined;
  let times = 0;
  const watch = new SocketWatch(sockets, path, () => tell());
  for (let time = 0; time < 3; time += 1) {
    const appeared = new Promise<void>((resolve) => (tell = resolve));
    writeFileSync(join(directory, "other"), "");
    writeFileSync(path, "");
    await appeared;
    times += 1;
    rmSync(path);
  }
  watch.close();
  watch.close();
  expect(times).toBe(3);
});

test("so is one whose directories are made later, one by one", async () => {
  const path = join(directory, "a", "b", "tmux.sock");
  let watch: SocketWatch | undefined;
  let times = 0;
  const appeared = new Promise<void>((resolve) => {
    watch = new SocketWatch(sockets, path, () => {
      times += 1;
      resolve();
    });
  });
  mkdirSync(join(directory, "a"));
  await new Promise((resolve) => setImmediate(resolve));
  mkdirSync(join(directory, "a", "b"));
  await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(path, "");
  await appeared;
  watch?.close();
  expect(times).toBeGreaterThan(0);
});
