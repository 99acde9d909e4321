/**
 * The shells of our own servers mark their commands, and nothing else about them changes: a run leaves what a person leaves who
 * types the command, the start-up files run as they do without us, programs see the same environment, and a program that
 * prints marks ends no run.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { slicesOf } from "../../daemon/tmux/outputSource.ts";
import { type OwnedApi, ownedApi, type SessionOfApi } from "../support/daemon/ownedApi.ts";
import { eventually } from "../support/clock/eventually.ts";
import type { OwnedFixture } from "../support/tmux/ownedFixture.ts";

const MARKS = join(import.meta.dirname, "../../daemon/shell/tmuxwire-marks");
const PROMPTS = [
  ["one line", "me@host:~$ "],
  ["two lines", "┌ me@host:~\\n└ $ "],
] as const;

const paths = new Map<string, string | undefined>();
function pathOf(program: string): string | undefined {
  if (!paths.has(program)) {
    const { status, stdout } = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
    paths.set(program, status === 0 ? stdout.trim() : undefined);
  }
  return paths.get(program);
}

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tw-marks-"));
});
const shared = new Map<string, Promise<OwnedApi>>();
afterAll(async () => {
  for (const one of shared.values()) await (await one)[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

/** A server with this default shell, which tmux starts as a login shell. */
const serve = (shell: string, marks = true): Promise<OwnedApi> =>
  ownedApi({
    env: { ...paneEnvironment(process.env), LANG: "C.UTF-8", HOME: directory, SHELL: pathOf(shell)! },
    shellMarks: marks ? MARKS : undefined,
  });

/** The same one for all tests: a server and its connections take longer to start than a shell. */
function served(shell: string, marks: boolean): Promise<OwnedApi> {
  const name = `${shell} ${marks}`;
  const found = shared.get(name) ?? serve(shell, marks);
  shared.set(name, found);
  return found;
}

type Files = Readonly<Record<string, string>>;

interface Started extends SessionOfApi {
  readonly api: OwnedApi;
  readonly home: string;
  /** Everything that the pane has printed, as latin1. */
  readonly raw: () => string;
  /** Types a line as a person does, and waits for the next prompt. */
  readonly type: (line: string) => Promise<void>;
}

interface Start {
  readonly files?: Files;
  readonly marks?: boolean;
  readonly command?: readonly string[] | undefined;
  readonly cols?: number;
  readonly rows?: number;
  /** Default: a new one. */
  readonly home?: string;
}

function homeWith(files: Files): string {
  const home = mkdtempSync(join(directory, "home-"));
  // How a prompt is recognised here; bash before 5.1 has it off.
  const all = { ".inputrc": "set enable-bracketed-paste on\n", ...files };
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  return home;
}

/** A session with a home of its own. */
async function start(shell: string, { files = {}, marks = true, command, ...more }: Start): Promise<Started> {
  const { cols = 80, rows = 24, home = homeWith(files) } = more;
  const api = await served(shell, marks);
  const made = await api.session({ cols, rows, cwd: home, command, environment: { HOME: home } });
  const { pane, session } = made;
  const raw = (): string =>
    Array.from(slicesOf(api.owned.server.output(session.activePane!), 0), (slice) =>
      slice.kind === "bytes" ? Buffer.from(slice.bytes).toString("latin1") : "",
    ).join("");
  const prompts = (): number => raw().split("\u001b[?2004h").length;
  return {
    ...made,
    api,
    home,
    raw,
    type: async (line) => {
      await eventually(() => prompts() > 1);
      const before = prompts();
      await pane.input([{ kind: "text", text: `${line}\r` }]);
      await eventually(() => prompts() > before);
    },
  };
}

/** Compares what is shown in the end: the last prompt is drawn after its sign. */
async function same(ours: () => Promise<unknown>, theirs: () => Promise<unknown>): Promise<void> {
  const difference = async () => {
    const both = { ours: await ours(), theirs: await theirs() };
    return JSON.stringify(both.ours) === JSON.stringify(both.theirs) ? undefined : both;
  };
  await expect.poll(difference).toBeUndefined();
}

interface Shell {
  readonly name: string;
  readonly title: string;
  readonly files: (prompt: string) => Files;
  /** The command that shows the shell's history. */
  readonly history: string;
}

const bash = (title: string, more: string): Shell => ({
  name: "bash",
  title,
  files: (prompt) => ({ ".bash_profile": `PS1=$'${prompt}'\nunset HISTFILE\n${more}\n` }),
  history: "history",
});

const zsh = (title: string, more: string): Shell => ({
  name: "zsh",
  title,
  files: (prompt) => ({ ".zshrc": `PS1=$'${prompt}'\n${more}\n` }),
  history: "fc -l 1",
});

/** Otherwise fish makes it in the background and fills it, at its first start. */
const COMPLETIONS: Files = { ".local/share/fish/generated_completions/none": "" };
const fish: Shell = {
  name: "fish",
  title: "fish",
  files: (prompt) => ({
    ".config/fish/config.fish": `function fish_prompt; printf '${prompt}'; end; function fish_greeting; end\n`,
    ...COMPLETIONS,
  }),
  history: "history --max 20 | cat",
};

const SHELLS: readonly Shell[] = [
  bash("bash", "unset HISTCONTROL"),
  bash("bash, no lines with a space before them in its history", "HISTCONTROL=ignorespace"),
  zsh("zsh", ""),
  zsh("zsh, no lines with a space before them in its history", "setopt hist_ignore_space"),
  fish,
];

describe.each(SHELLS)("$title", ({ name, files, history }) => {
  const isFish = name === "fish";
  const lines = [
    "printf 'one\\ntwo\\n'",
    isFish ? "false" : "(exit 3)",
    isFish ? "echo $status" : 'echo "$?"',
    'echo "it is a rather long command that takes more than one row in a narrow pane"',
    "seq 1 9 | tail -n 3",
    "printf abc",
    "echo é, à, ü",
    // Not one that is typed as it is; fish's history can only be added to by typing.
    ...(isFish ? [] : [`echo 'it'"'"'s' "$(echo quoted)"`]),
    history,
    ...(isFish ? ["echo 'it\\'s' (echo quoted)"] : []),
  ];
  test
    .skipIf(pathOf(name) === undefined)
    .each(PROMPTS.flatMap(([title, prompt]) => [20, 47, 80, 300].map((cols) => [title, cols, prompt] as const)))(
    "a prompt of %s, %i columns: a run leaves what somebody leaves who types the command",
    async (_, cols, prompt) => {
      await using person = await start(name, { files: files(prompt), marks: false, cols });
      await using ours = await start(name, { files: files(prompt), cols });
      for (const line of lines) {
        await person.type(line);
        const { method, output } = await ours.pane.run(line, { timeoutMs: 20_000 });
        if (line === "printf abc") expect(output).toBe("abc");
        expect([line, method]).toEqual([line, line.includes("(echo") ? "marker" : "osc133"]);
      }
      const screenOf = async (started: Started) => (await started.pane.capture({ lines: 400 })).lines;
      await same(
        () => screenOf(ours),
        () => screenOf(person),
      );
    },
    60_000,
  );

  test.skipIf(pathOf(name) === undefined)("a recording has nothing of ours but marks", async () => {
    await using ours = await start(name, { files: files("$ ") });
    for (const line of lines.filter((each) => !each.includes("(echo"))) await ours.pane.run(line);
    // oxlint-disable-next-line no-control-regex -- escape sequences
    expect(ours.raw().replaceAll(/\u001b\]133;[A-D][^\u0007]*\u0007/g, "")).not.toMatch(/5151|_tw|tmuxwire|133;/);
  });

  test.skipIf(pathOf(name) === undefined)("a program that prints marks of its own ends no run", async () => {
    await using ours = await start(name, { files: files("$ ") });
    const forged = String.raw`printf '\033]133;D;0\007\033]133;D;0;tmuxwire=\007\033]133;D;0;tmuxwire=12345\007\033]133;C;tmuxwire=7\007\033]133;D;0;tmuxwire=7\007'`;
    const result = await ours.pane.run(`${forged}; sh -c 'echo after; exit 4'`);
    expect(result).toMatchObject({ method: "osc133", exitCode: 4 });
    expect(result.output).toBe("after\n");
    // No program is given the secret.
    expect((await ours.pane.run("env")).output).not.toContain("tmuxwire_");
  });
});

/** What people type, and what their start-up files hold: with our marks they see what they see without. */
interface Habit {
  readonly shell: string;
  readonly title: string;
  readonly files: Files;
  readonly lines: readonly string[];
  readonly command?: readonly string[];
  /** Whether its commands are marked; default true. */
  readonly marked?: boolean;
}

// The paths differ between the two servers of a test, and `_` is of the program's own start.
const ENV = "env | grep -Ev '^(TMUX|TMUX_PANE|_)=' | sort";
const AFTER_FAILURE = [
  "(exit 3)",
  'echo "status $?"',
  "false | true",
  'echo "${PIPESTATUS[@]}"',
  "echo last",
  "echo $_",
];

const bashHabit = (title: string, rc: string, more: Partial<Habit> = {}): Habit => ({
  shell: "bash",
  title,
  files: { ".bashrc": `PS1='$ '\nunset HISTFILE\n${rc}\n`, ".bash_profile": ". ~/.bashrc\n" },
  lines: [ENV, ...AFTER_FAILURE],
  ...more,
});

const order = (...names: readonly string[]): Files =>
  Object.fromEntries(names.map((name) => [name, `echo ${name}; PS1='$ '\n`]));

const AFTER_FAILURE_ZSH = ["(exit 3)", 'echo "status $?"', "printf abc", "false | true", "echo $pipestatus", "echo )"];
const zshHabit = (title: string, rc: string, more: Partial<Habit> = {}): Habit => ({
  shell: "zsh",
  title,
  files: { ".zshrc": `PS1='$ '\n${rc}\n` },
  lines: [ENV, ...AFTER_FAILURE_ZSH],
  ...more,
});

const FISH_FILES = (rc: string): Files => ({
  ".config/fish/config.fish": `function fish_prompt; printf '$ '; end; function fish_greeting; end\n${rc}\n`,
  ...COMPLETIONS,
});
const fishHabit = (title: string, rc: string, more: Partial<Habit> = {}): Habit => ({
  shell: "fish",
  title,
  files: FISH_FILES(rc),
  lines: [ENV, "false", 'echo "status $status"', "printf abc", "false | true", "echo $pipestatus"],
  ...more,
});

const HABITS: readonly Habit[] = [
  bashHabit("nothing special", ""),
  bashHabit("a command before ours", 'PROMPT_COMMAND="echo before \\$?;$PROMPT_COMMAND"'),
  bashHabit("a command behind ours", 'PROMPT_COMMAND="${PROMPT_COMMAND:+$PROMPT_COMMAND; }echo behind \\$?"'),
  bashHabit("a line behind ours", "PROMPT_COMMAND=\"${PROMPT_COMMAND:+$PROMPT_COMMAND$'\\n'}echo behind\""),
  bashHabit("one more element", "PROMPT_COMMAND+=('echo element $?')"),
  bashHabit("elements around ours", 'PROMPT_COMMAND=("echo one" ${PROMPT_COMMAND:+"$PROMPT_COMMAND"} "echo two")'),
  bashHabit(
    "a prompt that runs what was there itself",
    "theirs=$PROMPT_COMMAND; PROMPT_COMMAND='eval \"$theirs\"; echo own'",
    {
      lines: AFTER_FAILURE,
    },
  ),
  bashHabit("its own PROMPT_COMMAND", "PROMPT_COMMAND='echo own $?'", { lines: AFTER_FAILURE, marked: false }),
  bashHabit("a PROMPT_COMMAND that cannot be changed", "readonly PROMPT_COMMAND=${PROMPT_COMMAND-}", {
    lines: AFTER_FAILURE,
    marked: false,
  }),
  bashHabit("a DEBUG trap", "trap ': $BASH_COMMAND' DEBUG", { marked: false }),
  bashHabit("its own PS0", "PS0='> '"),
  bashHabit("marks of its own", "PS1='\\[\\e]133;A\\a\\]$ '", { marked: false }),
  bashHabit("set -u and IFS", "set -u; IFS=0123456789"),
  bashHabit("set -e", "", { lines: ["set -e", "! true", "echo fine", ENV] }),
  bashHabit("set -x", "", { lines: ["set -x", "echo fine", "(exit 3)"] }),
  bashHabit("set -a", "", { lines: ["set -a", "echo fine", ENV] }),
  bashHabit("no prompt expansion", "shopt -u promptvars", { marked: false }),
  bashHabit("a seeded RANDOM", "", { lines: ["RANDOM=42", "echo $RANDOM", "echo $RANDOM"] }),
  bashHabit("a second bash", "", { lines: ["bash --norc", ENV, "false", "exit", 'echo "$?"'] }),
  bashHabit("sh as a program", "", { lines: [`sh -c "${ENV}"`, `bash -c "${ENV}"`] }),
  bashHabit("a restricted shell", "", { command: ["bash", "-r"], lines: ["echo fine", "false"], marked: false }),
  bashHabit("started by a program", "", { command: ["sh", "-c", "bash; true"], marked: false }),
  bashHabit("a login shell's files", "", { files: order(".bash_profile", ".bashrc", ".profile"), lines: [ENV] }),
  bashHabit("an interactive shell's file", "", {
    command: ["bash"],
    files: order(".bash_profile", ".bashrc", ".profile"),
    lines: [ENV],
  }),
  zshHabit("nothing special", ""),
  zshHabit("hooks of its own", "precmd() { echo precmd $? }; preexec() { echo preexec $1 }"),
  zshHabit("hooks with add-zsh-hook", "autoload -Uz add-zsh-hook; f() { echo f $? }; add-zsh-hook precmd f"),
  zshHabit("no hooks but its own", "f() { echo f $? }; precmd_functions=(f); preexec_functions=(f)", { marked: false }),
  zshHabit("a mark of its own for lines without an end", "PROMPT_EOL_MARK='<%?>'; setopt prompt_subst"),
  zshHabit("no mark for lines without an end", "PROMPT_EOL_MARK="),
  zshHabit("no room for lines without an end", "unsetopt prompt_sp"),
  zshHabit("marks of its own", "precmd() { print -n '\\e]133;A\\a' }", { marked: false }),
  zshHabit(
    "many options",
    "setopt no_unset err_return ksh_arrays sh_word_split warn_create_global null_glob all_export",
  ),
  zshHabit("set -x", "", { lines: ["PS4=+", "set -x", "echo fine", "(exit 3)", "printf abc"] }),
  zshHabit("set -e", "", { lines: ["set -e", "! true", "echo fine", ENV] }),
  zshHabit("questions about words", "setopt correct_all", { lines: AFTER_FAILURE_ZSH }),
  zshHabit("a seeded RANDOM", "", { lines: ["RANDOM=42", "echo $RANDOM", "echo $RANDOM"] }),
  zshHabit("a second zsh", "", {
    lines: ["zsh -f", ENV, "exit 4", 'echo "$?"', "zsh", ENV, "exit", `zsh -c "${ENV}"`],
  }),
  zshHabit("a bash in it", "", { lines: ["bash --norc", ENV, "exit 4", 'echo "$?"'] }),
  zshHabit("started by a program", "", { command: ["sh", "-c", "zsh; true"], marked: false }),
  zshHabit("a login shell's files", "", { files: order(".zshenv", ".zprofile", ".zshrc", ".zlogin", ".bashrc") }),
  zshHabit("an interactive shell's files", "", {
    command: ["zsh"],
    files: order(".zshenv", ".zprofile", ".zshrc", ".zlogin"),
  }),
  zshHabit("files in a folder of its own", "", {
    files: {
      ".zshenv": "ZDOTDIR=~/z; echo ${(%):-%x}; echo ${ZDOTDIR-none}",
      ...Object.fromEntries(Object.entries(order(".zshrc", ".zlogin")).map(([name, text]) => [`z/${name}`, text])),
    },
    lines: ["echo $ZDOTDIR", ENV],
  }),
  zshHabit("a .zshenv that ends early", "", { files: { ".zshenv": "return 3", ".zshrc": "PS1='$ '" } }),
  zshHabit("no start-up files", "", {
    command: ["zsh", "-f"],
    lines: ["PS1='$ '", ...AFTER_FAILURE_ZSH],
    marked: false,
  }),
  fishHabit("nothing special", ""),
  fishHabit("handlers of its own", "function f --on-event fish_prompt; echo f $status; end"),
  fishHabit("marks of its own", "function f --on-event fish_prompt; printf '\\e]133;A\\a'; end", { marked: false }),
  fishHabit("files in order", "", {
    files: {
      ...FISH_FILES("echo config"),
      ".config/fish/conf.d/own.fish": "echo own",
      ".local/share/fish/vendor_conf.d/vendor.fish": "echo vendor",
    },
    lines: [ENV, "printf '%s\\n' $__fish_vendor_confdirs $fish_function_path $fish_complete_path"],
  }),
  fishHabit("a seeded random", "", { lines: ["random 42", "random", "random"] }),
  fishHabit("a second fish", "", { lines: ["fish", ENV, "exit 4", "echo $status", `fish -c "${ENV}"`] }),
];

describe.each(HABITS)("$shell, $title", ({ shell, files, lines, command, marked = true }) => {
  test.skipIf(pathOf(shell) === undefined)(
    `looks as without us; marks: ${marked}`,
    async () => {
      const home = homeWith(files);
      await using without = await start(shell, { home, command, marks: false, rows: 200 });
      await using ours = await start(shell, { home, command, rows: 200 });
      for (const line of lines) {
        await without.type(line);
        await ours.type(line);
      }
      const shown = async ({ pane }: Started): Promise<readonly string[]> => (await pane.capture({ lines: 400 })).lines;
      await same(
        () => shown(ours),
        () => shown(without),
      );
      expect(ours.raw().includes("]133;C;tmuxwire=")).toBe(marked);
      expect(without.raw()).not.toContain("tmuxwire=");
    },
    30_000,
  );
});

test("a shell without such a script, and one that a command starts, run commands as before", async () => {
  await using dash = await start("dash", { command: ["env", "PS1=$ ", "dash"] });
  expect(await dash.pane.run("echo a; false")).toMatchObject({ method: "marker", output: "a\n", exitCode: 1 });
  await using own = await start("bash", { command: ["bash", "--norc", "--noprofile"] });
  expect(await own.pane.run("echo a; false")).toMatchObject({ method: "osc133", output: "a\n", exitCode: 1 });
});

test.each(["exec bash --norc", "unset PROMPT_COMMAND", "PROMPT_COMMAND=true"])(
  "%s ends the marks, but not the run, and later runs go on without them",
  async (line) => {
    await using ours = await start("bash", { files: { ".bash_profile": "PS1='$ '; export PS1" } });
    expect((await ours.pane.run("true")).method).toBe("osc133");
    await ours.pane.run(line, { timeoutMs: 10_000 });
    expect(await ours.pane.run("echo a; false")).toMatchObject({ method: "marker", output: "a\n", exitCode: 1 });
  },
);

test.each([
  ["zsh", ".zshrc", "setopt correct"],
  ["zsh", ".zshrc", "setopt correct_all"],
  ["zsh", ".zshrc", "setopt extended_glob"],
  ["bash", ".bash_profile", "shopt -u promptvars"],
])("%s that has in its %s: %s, runs what is not quite a name, and tells the status", async (shell, file, option) => {
  await using ours = await start(shell, { files: { [file]: `PS1='$ '\n${option}\n`, test: "", tw: "" } });
  for (const line of ["mkdir tests", "gti", "for name in tests; do ls -d $name; (exit 3); done"]) {
    const { output, exitCode } = await ours.pane.run(line, { timeoutMs: 10_000 });
    expect([line, exitCode]).toEqual([line, line === "gti" ? 127 : line === "mkdir tests" ? 0 : 3]);
    if (line.startsWith("for")) expect(output).toBe("tests\n");
  }
});

test("what a run needs of a shell is there, also when a command is interrupted or not complete", async () => {
  await using ours = await start("bash", { files: { ".bash_profile": "PS1='$ '" } });
  // A program says that it is there: a shell that has just forked one can lose the signal.
  const interrupted = ours.pane.run(`sh -c "echo star''ted; exec sleep 60"`, { timeoutMs: 20_000 });
  await ours.pane.wait({ pattern: { literal: "started" }, from: "tail:1000", timeoutMs: 10_000 });
  await ours.pane.keys(["C-c"]);
  expect(await interrupted).toMatchObject({ method: "osc133", exitCode: 130 });
  for (const line of ["echo 'not complete", "if true", "cat <<END", 'echo "wow!now"', "echo a |"])
    expect([line, (await ours.pane.run(line, { timeoutMs: 10_000 })).method]).toEqual([line, "marker"]);
  expect(await ours.pane.run("echo a")).toMatchObject({ method: "osc133", output: "a\n", exitCode: 0 });
});

test("programs that we start do not see the variables, and shells that start beside them do", async () => {
  await using ours = await start("bash", {});
  const { client, owned } = ours.api;
  const { server, socket } = owned;
  const session = ours.session.id;
  const command = ["sh", "-c", `env >"$0.new"; mv "$0.new" "$0"; sleep 60`, join(ours.home, "split")];
  const shells = [1, 2, 3].map((n) => server.createSession({ name: `beside-${n}` }));
  const [, { pane }] = await Promise.all([
    server.createSession({ name: "program", command: command.with(3, join(ours.home, "session")) }),
    server.layout.run({ kind: "new-window", session, detached: true, command }),
    ...shells,
  ]);
  await eventually(() => existsSync(join(ours.home, "split")));
  await server.layout.run({ kind: "respawn-pane", pane: pane!, command: command.with(3, join(ours.home, "again")) });
  for (const name of ["session", "split", "again"]) {
    await eventually(() => existsSync(join(ours.home, name)));
    expect(readFileSync(join(ours.home, name), "utf8")).not.toMatch(
      /PROMPT_COMMAND|ZDOTDIR|XDG_DATA_DIRS|tmuxwire-marks/,
    );
  }
  for (const n of [1, 2, 3]) expect((await client.pane(`beside-${n}`).run("true")).method).toBe("osc133");
  expect(socket.tmux("show-environment", "-g")).toMatch(/^ZDOTDIR=.*tmuxwire-marks/m);
});

test("the switch: the shells of a server without marks have none, and ours are gone when the daemon is", async () => {
  const own = ["PROMPT_COMMAND", "ZDOTDIR", "XDG_DATA_DIRS"];
  const environment = ({ socket }: OwnedFixture): readonly string[] =>
    socket
      .tmux("show-environment", "-g")
      .split("\n")
      .filter((line) => own.includes(line.split("=")[0]!));
  await using off = await start("bash", { marks: false });
  expect(environment(off.api.owned)).toEqual([]);
  expect((await off.pane.run("true")).method).toBe("marker");
  await using on = await serve("bash");
  await on.owned.server.createSession({ name: "stays" });
  expect(environment(on.owned)).toHaveLength(3);
  const { socket } = on.owned;
  await on.owned.server.close();
  await eventually(() => environment(on.owned).length === 0);
  // What somebody else has set stays, also where we are switched off.
  socket.tmux("set-environment", "-g", "ZDOTDIR", "/theirs");
  const options = { socketPath: socket.socketPath, env: paneEnvironment(process.env), clock: systemClock };
  const again = await startOwnedServer({ ...options, shellMarks: MARKS });
  expect(environment(on.owned)).toContain("ZDOTDIR=/theirs");
  expect(environment(on.owned)).toHaveLength(3);
  await again.close();
  socket.tmux("set-environment", "-g", "XDG_DATA_DIRS", "/elsewhere/tmuxwire-marks:/usr/share");
  const switchedOff = await startOwnedServer(options);
  expect(environment(on.owned)).toEqual(["ZDOTDIR=/theirs"]);
  await switchedOff.close();
});
