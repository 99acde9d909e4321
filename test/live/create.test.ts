/** Sessions are made as asked, literally, and their programs' ends are told (docs/tmuxFacts.md 15, 23, 24, 34, 35). */
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import type { ExitStatus } from "../../daemon/tmux/outputSource.ts";
import type { CreateSession } from "../../daemon/tmux/inventory.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userClients, userSession } from "../support/tmux/guestFixture.ts";
import { collectUntil, seen } from "../support/tmux/output.ts";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";
import { startProgram, text } from "../support/tmux/panePrograms.ts";
import { asTmuxWrites, keepsPanes } from "../support/tmux/tmuxWords.ts";

const IS_KEEPING = keepsPanes();

const SECRET = "s3cret-of-the-daemon";
let fixture: OwnedFixture;

beforeAll(async () => {
  fixture = await ownedFixture({ env: paneEnvironment({ ...process.env, TMUXWIRE_TOKEN: SECRET }) });
});

afterAll(() => fixture[Symbol.asyncDispose]());

/** Resolves with the status of the first pane that ends. */
const exitOf = (make: () => Promise<unknown>): Promise<{ readonly pane: PaneId; readonly status: ExitStatus }> =>
  new Promise((resolve, reject) => {
    const unsubscribe = fixture.server.subscribe((event) => {
      if (event.kind !== "pane-exited") return;
      unsubscribe();
      resolve(event);
    });
    make().catch(reject);
  });

const hostile = [
  "#(touch X)",
  "$(touch X)",
  "`touch X`",
  "a;touch X",
  "a; kill-server",
  "#{pane_id}",
  "-d",
  "~",
  "a b",
  "a'b\"c",
  "é漢🙂",
  "a\\b",
  "{x}",
  "=x",
  "@1",
  "%1",
  "x,y",
  "*",
];

test.each(hostile)("a session, a directory and a program called %s", async (name) => {
  const { server, socket } = fixture;
  const cwd = join(socket.directory, "cwd", name);
  mkdirSync(cwd, { recursive: true });
  // A name that begins with $ would be an id to tmux, and is refused.
  const sessionName = name.replace(/^\$/, "S$");
  const session = await server.createSession({
    name: sessionName,
    cwd,
    command: ["sh", "-c", 'printf "%s\\n" "$0" "$PWD" end; exec cat', name],
  });
  expect(server.findSession(sessionName)?.id).toBe(session.id);
  expect(server.findSession(session.name)?.id).toBe(session.id);
  const output = await seen(server.output(session.activePane!), 0, "end\r\n");
  expect(output.toString()).toBe(`${name}\r\n${cwd}\r\nend\r\n`);
  expect((await server.describePane(session.activePane!)).cwd).toBe(cwd);
  await server.killSession(session.id);
  if (!IS_KEEPING) return;
  // A program of that name does not exist: nothing of it is taken for a script.
  const { status } = await exitOf(() =>
    server.createSession({ name: `program ${hostile.indexOf(name)}`, cwd, command: [name], remainOnExit: true }),
  );
  expect([126, 127, 2]).toContain(status.exitCode);
  expect(readdirSync(cwd)).toEqual([]);
  expect(readdirSync(socket.directory)).not.toContain("X");
});

test.each(["", "a\nb", "a\tb", "\u0007", "$5", "__tmuxwire-x", "x".repeat(257), "\u202e"])(
  "the name %j is refused",
  async (name) => {
    await expect(fixture.server.createSession({ name })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  },
);

test.each(["a.b:c", "p$HOME", "x$", "${y}z", "back\\slash.dot"].map((name) => name.replace(/^\$/, "S$")))(
  "%s is kept, found and refused a second time under the name that tmux gave it",
  async (name) => {
    const { server, socket } = fixture;
    const before = server.sessions().length;
    const named = await asTmuxWrites(name);
    const made = await server.createSession({
      name,
      command: IS_KEEPING ? ["sh", "-c", "exit 3"] : ["cat"],
      remainOnExit: IS_KEEPING,
    });
    expect(made.name).toBe(named);
    expect(server.findSession(name)?.id).toBe(made.id);
    expect(server.findSession(named)?.id).toBe(made.id);
    const kept = socket.tmux("show-options", "-w", "-t", `${made.id}:`, "remain-on-exit").trim();
    expect(kept).toBe(IS_KEEPING ? "remain-on-exit on" : "");
    await expect(server.createSession({ name })).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
    await server.killSession(made.id);
    expect(server.sessions()).toHaveLength(before);
  },
);

test.each(["both", "both.at once"])("a session that cannot get its name leaves nothing behind: %s", async (name) => {
  const { server, socket } = fixture;
  const results = await Promise.allSettled(
    [1, 2, 3].map(() => server.createSession({ name, command: ["cat"], remainOnExit: IS_KEEPING })),
  );
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  for (const result of results) {
    if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "ALREADY_EXISTS" });
    else await server.killSession(result.value.id);
  }
  expect(socket.tmux("list-sessions", "-F", "#{session_name}")).not.toMatch(/^(both|tmuxwire)/m);
});

test("a session has the requested size while a person is attached elsewhere, and follows clients that attach to it", async () => {
  const { server, socket } = fixture;
  await server.createSession({ name: "theirs", command: ["cat"] });
  await using person = await userClients(socket, [["theirs", { cols: 133, rows: 44 }]]);
  const made = await server.createSession({ name: "asked", command: ["cat"], cols: 61, rows: 17 });
  const usual = await server.createSession({ name: "usual", command: ["cat"] });
  const sizeOf = (pane: PaneId | undefined): unknown => {
    const { cols, rows } = server.findPane(pane!) ?? {};
    return { cols, rows };
  };
  expect(sizeOf(made.activePane)).toEqual({ cols: 61, rows: 17 });
  expect(sizeOf(usual.activePane)).toEqual({ cols: 80, rows: 24 });
  await using other = await userClients(socket, [["asked", { cols: 99, rows: 33 }]]);
  await eventually(() => server.findPane(made.activePane!)?.cols === 99);
  expect([person.count, other.count]).toEqual([1, 1]);
});

test("a name that exists is refused, also when tmux makes it so", async () => {
  const { server } = fixture;
  const both = await Promise.allSettled([1, 2].map(() => server.createSession({ name: "twice", command: ["cat"] })));
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("names are not matched as prefixes: `work` is missing while `work-2` exists", async () => {
  const { server } = fixture;
  const work = await server.createSession({ name: "work", command: ["cat"] });
  const other = await startProgram(server, "work-2", ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"]);
  await server.killSession(work.id);
  expect(server.findSession("work")).toBeUndefined();
  const gone = { code: "NOT_FOUND" };
  await expect(server.killSession(work.id)).rejects.toMatchObject(gone);
  await expect(server.input(work.activePane!, [text("typed")])).rejects.toMatchObject(gone);
  await expect(server.capture(work.activePane!)).rejects.toMatchObject(gone);
  expect(() => server.output(work.activePane!)).toThrow(expect.objectContaining(gone));
  expect(server.findSession("work-2")?.id).toBe(other.session.id);
  await server.input(other.pane, [text("alive;")]);
  expect((await seen(other.source, other.startSeq, "alive;")).toString()).toBe("alive;");
});

const ends: Record<string, readonly [command: string, status: ExitStatus]> = {
  "exit 0": ["echo kept", { exitCode: 0 }],
  "exit 3": ["echo kept; exit 3", { exitCode: 3 }],
  "kill -9": ["echo kept; kill -9 $$", { signal: 9 }],
  "kill -TERM": ["echo kept; kill -TERM $$", { signal: 15 }],
};

test.runIf(IS_KEEPING).each(Object.entries(ends))(
  "remainOnExit keeps output and status: %s",
  async (name, [command, status]) => {
    const { server } = fixture;
    let made: Awaited<ReturnType<typeof server.createSession>> | undefined;
    const event = await exitOf(async () => {
      made = await server.createSession({ name, command: ["sh", "-c", command], remainOnExit: true });
    });
    expect(event.status).toEqual({ exitCode: undefined, signal: undefined, ...status });
    expect(server.findPane(event.pane)?.exit).toEqual(event.status);
    const source = server.output(event.pane);
    expect(source.exit).toEqual(event.status);
    expect((await collectUntil(source, 0, (bytes) => bytes.includes("kept"))).toString()).toBe("kept\r\n");
    expect((await server.capture(event.pane, { lines: 100 })).lines).toContain("kept");
    if (made !== undefined) await server.killSession(made.id);
  },
);

test.runIf(IS_KEEPING).each([
  ["the screen", "printf 'one\\ntwo\\n'"],
  ["the alternate screen", "printf '\\033[?1049hone\\ntwo\\n'"],
  ["a full screen", "printf 'one\\ntwo'; for row in $(seq 3 24); do printf '\\n%s' $row; done"],
])("remainOnExit leaves %s as the program left it", async (_what, program) => {
  await using guest = await guestFixture((socket) => void userSession(socket, "users"));
  for (const server of [fixture.server, guest.server]) {
    const command = ["sh", "-c", `${program}; sleep 0.1`];
    const made = await server.createSession({ name: "left", command, remainOnExit: true, cols: 80, rows: 24 });
    const pane = made.activePane!;
    await eventually(() => server.findPane(pane)?.exit !== undefined);
    const { lines } = await server.capture(pane);
    expect(lines.slice(0, 2)).toEqual(["one", "two"]);
    expect(lines.join("\n")).not.toContain("Pane is dead");
    await server.killSession(made.id);
  }
});

test.skipIf(IS_KEEPING)("a pane is not kept where that can end the server, and nothing is left of it", async () => {
  await using guest = await guestFixture((socket) => void userSession(socket, "users"));
  for (const server of [fixture.server, guest.server]) {
    const before = server.sessions().length;
    const command = ["sh", "-c", "seq 1 200000"];
    const refused = { code: "INVALID_ARGUMENT", message: expect.stringContaining("tmux 3.3 or newer") as string };
    await expect(server.createSession({ name: "dies", command, remainOnExit: true })).rejects.toMatchObject(refused);
    expect(server.sessions()).toHaveLength(before);
    const made = await server.createSession({ name: "lives", command: ["cat"], remainOnExit: "whereSafe" });
    await server.killSession(made.id);
  }
});

test("without remainOnExit a session goes with its program, as in tmux", async () => {
  const { server } = fixture;
  const session = await server.createSession({ name: "short", command: ["cat"] });
  const closed = new Promise<void>((resolve) => {
    server.subscribe((event) => {
      if (event.kind === "pane-closed" && event.pane === session.activePane) resolve();
    });
  });
  await server.input(session.activePane!, [{ kind: "keys", keys: ["C-d"] }]);
  await closed;
  expect(server.findSession("short")).toBeUndefined();
});

test("a session whose program cannot run says so", async () => {
  const request: CreateSession = { name: "nothing", command: ["/does/not/exist", "x"] };
  await fixture.server.createSession(request).catch((error: unknown) => {
    expect(error).toMatchObject({ code: "TMUX_COMMAND_FAILED" });
  });
});

test("no secret of the daemon reaches a pane or tmux", async () => {
  process.env["TMUXWIRE_TOKEN"] = SECRET;
  const { server, socket } = fixture;
  const session = await server.createSession({ name: "environment", command: ["cat"] });
  const { pid } = server.findPane(session.activePane!)!;
  expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain(SECRET);
  socket.tmux("new-session", "-d", "-s", "by another client", "cat");
  expect(socket.tmux("show-environment", "-g")).not.toContain(SECRET);
  expect(socket.tmux("show-environment", "-t", "by another client")).not.toContain(SECRET);
  expect(readFileSync(`/proc/${socket.tmux("display-message", "-p", "#{pid}").trim()}/environ`, "utf8")).not.toContain(
    SECRET,
  );
  delete process.env["TMUXWIRE_TOKEN"];
});
