/** The user's own tmux on demand: only theirs, only when it may, once for all who ask. */
import { chmodSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { userServer } from "../../../../adapters/serving/userServer.ts";
import type { SharedGuests } from "../../../../adapters/serving/sharedGuests.ts";
import type { TmuxServer } from "../../../../daemon/tmux/tmuxServer.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

const UID = process.getuid?.() ?? 0;
let root: string;
let listener: Server | undefined;
beforeEach(() => {
  root = ownDirectory();
});
afterEach(() => {
  listener?.close();
  listener = undefined;
});

const directory = (): string => join(root, `tmux-${UID}`);

async function socket(): Promise<string> {
  mkdirSync(directory(), { mode: 0o700 });
  const path = join(directory(), "default");
  listener = createServer();
  await new Promise<void>((resolve) => listener?.listen(path, resolve));
  return path;
}

function asked(offersDefault = true, uid = UID) {
  const opened: string[] = [];
  const servers = new Map<string, TmuxServer>();
  const guests = {
    at: async (path: string) => {
      opened.push(path);
      await new Promise(setImmediate);
      return { path } as unknown as TmuxServer;
    },
  } as unknown as SharedGuests;
  const unconfigured = new Set<string>();
  const env = { TMUX_TMPDIR: root, TMUX: "/elsewhere,1,0" };
  const onDemand = userServer({ offersDefault }, { env, guests, servers, unconfigured }, uid);
  return { opened, servers, unconfigured, onDemand };
}

test("opened once for all who ask, under its name", async () => {
  const path = await socket();
  const { opened, servers, unconfigured, onDemand } = asked();
  expect(onDemand.reach("main")).toBeUndefined();
  expect(onDemand.reach(undefined)).toBeUndefined();
  await Promise.all([onDemand.reach("default"), onDemand.reach("default")]);
  expect(opened).toEqual([path]);
  expect([...servers.keys()]).toEqual(["default"]);
  expect([...unconfigured]).toEqual(["default"]);
  expect(onDemand.reach("default")).toBeUndefined();
});

test("one that was configured under that name is that one", () => {
  const { servers, unconfigured, onDemand } = asked();
  servers.set("default", {} as TmuxServer);
  expect(onDemand.reach("default")).toBeUndefined();
  expect([...unconfigured]).toEqual([]);
});

test("none: it says so, and is looked for again", async () => {
  const { opened, onDemand } = asked();
  await expect(onDemand.reach("default")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await socket();
  await onDemand.reach("default");
  expect(opened).toHaveLength(1);
});

test("not when it is switched off", async () => {
  await socket();
  const { opened, onDemand } = asked(false);
  await expect(onDemand.reach("default")).rejects.toThrow(/native\.default is off/);
  expect(opened).toEqual([]);
});

const unsafe: readonly (readonly [string, () => Promise<void> | void])[] = [
  [
    "a directory that others may write",
    async () => {
      await socket();
      chmodSync(directory(), 0o777);
    },
  ],
  [
    "a file in its place",
    () => {
      mkdirSync(directory(), { mode: 0o700 });
      writeFileSync(join(directory(), "default"), "");
    },
  ],
  [
    "a link to somewhere else",
    () => {
      mkdirSync(directory(), { mode: 0o700 });
      symlinkSync("/tmp", join(directory(), "default"));
    },
  ],
  [
    "a directory that is a link",
    async () => {
      await socket();
      renameSync(directory(), join(root, "real"));
      symlinkSync(join(root, "real"), directory());
    },
  ],
];
test.each(unsafe)("refused: %s", async (_name, make) => {
  await make();
  const { opened, onDemand } = asked();
  await expect(onDemand.reach("default")).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(opened).toEqual([]);
});

test("refused: another user's", async () => {
  const path = await socket();
  // As if we were somebody else.
  renameSync(directory(), join(root, `tmux-${UID + 1}`));
  const { opened, onDemand } = asked(true, UID + 1);
  await expect(onDemand.reach("default")).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect([opened, path.length > 0]).toEqual([[], true]);
});
