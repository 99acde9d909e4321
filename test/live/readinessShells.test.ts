/** Shells and REPLs as they come: bash with and without OSC 133, zsh, fish, gdb, dash, python3, node; what runs in them. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import type { Readiness } from "../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { seen } from "../support/tmux/output.ts";
import { text } from "../support/tmux/panePrograms.ts";
import { type WatchedPane, watchPane } from "../support/agents/readinessWatch.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";

const is =
  (state: string, profile?: string) =>
  (readiness: Readiness): boolean =>
    readiness.state === state && (profile === undefined || readiness.profile === profile);

async function paneWith(server: TmuxServer, command: readonly string[]): Promise<PaneId> {
  const session = await server.createSession({ name: `s${server.sessions().length}`, command, cols: 90, rows: 24 });
  if (session.activePane === undefined) throw new Error("no pane");
  return session.activePane;
}

/** Types and waits for the states in order; all of them after what was typed. */
async function type(
  { server, pane, watched }: { server: TmuxServer; pane: PaneId; watched: WatchedPane },
  line: string,
  ...states: ((readiness: Readiness) => boolean)[]
): Promise<void> {
  let from = watched.seen.length;
  await server.input(pane, [text(`${line}\r`)]);
  for (const fits of states) {
    const found = await watched.until(fits, from);
    from = watched.seen.indexOf(found) + 1;
  }
}

const has = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

/** `sleep` in each program's own words. */
const PROGRAMS = [
  { name: "zsh", command: ["zsh", "-f"], profile: "shell", busy: "sleep 1" },
  { name: "fish", command: ["fish", "--no-config"], profile: "shell", busy: "sleep 1" },
  { name: "dash", command: ["dash"], profile: "shell", busy: "sleep 1" },
  { name: "gdb", command: ["gdb", "-q", "-nx"], profile: "shell", busy: "shell sleep 1" },
  { name: "python3", command: ["python3", "-q"], profile: "generic", busy: "import time; time.sleep(1)" },
  {
    name: "node",
    command: [process.execPath],
    profile: "generic",
    busy: "for (let end = Date.now() + 1000; Date.now() < end; );",
  },
] as const;

const installed = PROGRAMS.filter(({ name, command }) => {
  const isThere = has(command[0]);
  if (!isThere) console.log(`skipped: there is no ${name} here`);
  return isThere;
});

// Each has a server of its own and mostly waits for a second of work.
test.concurrent.each(installed)(
  "$name: idle at its prompt, busy at work, idle again",
  async ({ command, profile, busy }) => {
    await using fixture = await ownedFixture();
    const { server } = fixture;
    const pane = await paneWith(server, command);
    using watched = watchPane(server, pane);
    await watched.until(is("idle", profile));
    // At a prompt that came before the program was seen to have gone, the profile may still be the program's.
    await type({ server, pane, watched }, busy, is("busy"), is("idle", profile));
    await type({ server, pane, watched }, busy, is("busy"), is("idle", profile));
    expect(watched.pane.current).toMatchObject({ state: "idle", profile });
  },
);

test("a question at the cursor of a shell's command is asking, with its letters as options", async () => {
  await using fixture = await ownedFixture();
  const { server } = fixture;
  const pane = await paneWith(server, ["bash", "--norc", "--noprofile"]);
  using watched = watchPane(server, pane);
  await watched.until(is("idle", "shell"));
  const from = watched.seen.length;
  await server.input(pane, [text("read -p 'Do you want to continue? [Y/n] ' a; echo $a\r")]);
  const { readiness } = await watched.until(is("asking"), from);
  expect(readiness.dialog).toMatchObject({
    text: "Do you want to continue? [Y/n]",
    options: [
      { label: "Y", keys: ["y", "Enter"] },
      { label: "n", keys: ["n", "Enter"] },
    ],
  });
  await type({ server, pane, watched }, "y", is("idle"));
});

test("a full-screen editor is not a shell at its prompt; when it ends the shell is", async () => {
  await using fixture = await ownedFixture();
  const { server } = fixture;
  const pane = await paneWith(server, ["bash", "--norc", "--noprofile"]);
  using watched = watchPane(server, pane);
  await watched.until(is("idle", "shell"));
  let from = watched.seen.length;
  const drawn = seen(server.output(pane), server.output(pane).outputSeq, "\u001b[?1049h");
  await server.input(pane, [text("vi -u NONE -N\r")]);
  await drawn;
  expect(await watched.pane.probe()).toMatchObject({ state: "busy", profile: "shell" });
  expect(watched.seen.slice(from).map(({ readiness }) => readiness.state)).not.toContain("idle");
  from = watched.seen.length;
  await server.input(pane, [text(":q!\r")]);
  await watched.until(is("idle", "shell"), from);
});

test("a REPL that a shell runs is judged by its own prompt, and the shell again when it is back", async () => {
  await using fixture = await ownedFixture();
  const { server } = fixture;
  const pane = await paneWith(server, ["bash", "--norc", "--noprofile"]);
  using watched = watchPane(server, pane);
  await watched.until(is("idle", "shell"));
  await type({ server, pane, watched }, process.execPath, is("busy", "shell"), is("idle", "generic"));
  await type({ server, pane, watched }, ".exit", is("idle", "shell"));
  expect(watched.pane.current.source).toBe("bracketedPaste");
});

test("what was there before anybody watched is known at the first look", async () => {
  await using fixture = await ownedFixture();
  const { server } = fixture;
  const pane = await paneWith(server, ["bash", "--norc", "--noprofile"]);
  using first = watchPane(server, pane);
  await first.until(is("idle", "shell"));
  await type({ server, pane, watched: first }, "sleep 600", is("busy"));
  using second = watchPane(server, pane);
  expect(await second.pane.probe()).toMatchObject({ state: "busy", profile: "shell" });
});

test.runIf(keepsPanes())("the end of the program and the end of the pane are dead", async () => {
  await using fixture = await ownedFixture();
  const { server } = fixture;
  const session = await server.createSession({ name: "kept", command: ["sh", "-c", "read x"], remainOnExit: true });
  using kept = watchPane(server, session.activePane!);
  await server.input(session.activePane!, [text("\r")]);
  await kept.until(({ state, source }) => state === "dead" && source === "exit");
  const pane = await paneWith(server, ["bash", "--norc"]);
  using gone = watchPane(server, pane);
  await gone.until(is("idle"));
  const closed = new Promise<void>((resolve) => {
    server.subscribe((event) => event.kind === "pane-closed" && event.pane === pane && resolve());
  });
  await type({ server, pane, watched: gone }, "exit", is("dead"));
  await closed;
  expect(() => gone.engine.watch(server, pane)).toThrow("there is no pane");
});
