/**
 * Records the screens of a real agent program into `PROGRAM/VERSION/screens.md`, offline, against the kit's fake model API.
 * What a scene is called and which state it is in follows from what was done to the program and from the API's log, never
 * from a profile: the golden test holds the profiles against it.
 *
 *   AGENT_KIT=… TUI_INST=… $AGENT_KIT/bin/offline node test/golden/agents/record.mjs PROFILE RECIPE[=INSTALL] [SCENE…]
 *
 * Copilot's and Qwen's recipes are in `test/support/agents/kitRecipes.mjs`. `RECIPE=INSTALL` runs a recipe with another installation below TUI_INST (`claude=cc=ccnew`: folder cc is ccnew).
 * It goes to PROFILE/$VERSION/SCENE.md: one section per screen with `## name`, its lines `state:` `title:` `command:`
 * `cursor:` `size:`, and the rows in a fence. Added by hand: `options:` and `question:` (labels and rows of the dialog, ` | ` between them) and
 * `judged: unknown` where a screen alone cannot tell the state. The form is docs/profiles.md's, the run's folders as ~ and ~/work.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const { AGENT_KIT, TUI_INST } = process.env;
if (AGENT_KIT === undefined || TUI_INST === undefined) {
  console.log("record: give AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder) in the environment");
  process.exit(0);
}
const [profile, recipeWord, ...only] = process.argv.slice(2);
const [recipe, folder, install] = recipeWord.split("=");
const run = mkdtempSync(join(tmpdir(), "tw-record-"));
const inst = join(run, "inst");
mkdirSync(inst);
for (const name of readdirSync(TUI_INST))
  symlinkSync(resolve(TUI_INST, name === folder ? install : name), join(inst, name));
process.env.TUI_INST = inst;
process.env.TUI_RUN = join(run, "run");
const { startFakeModel } = await import("../../support/agents/fakeModel.mjs");
const api = await startFakeModel();
process.env.FAKE_API = api.url;
const { prepare, facts } = await import("../../support/agents/kitRecipes.mjs");

const COLS = 100;
const ROWS = 36;
const socket = join(run, "tmux.sock");
const tmux = (...args) =>
  execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const show = (format) => tmux("display-message", "-p", "-t", "%0", format).replace(/\n$/, "");
const rows = (...flags) => tmux("capture-pane", "-p", "-t", "%0", ...flags).replace(/\n$/, "");

/** Until it has drawn something and draws the same for so long. */
async function still(ms = 1_200, withinMs = 60_000) {
  let before = "";
  let since = Date.now();
  for (const endMs = Date.now() + withinMs; Date.now() < endMs;) {
    const now = `${show("#{pane_title}")}\n${rows()}`;
    if (now !== before || rows().trim() === "") [before, since] = [now, Date.now()];
    else if (Date.now() - since >= ms) return;
    await sleep(100);
  }
}
const until = async (holds, withinMs = 30_000) => {
  for (const endMs = Date.now() + withinMs; Date.now() < endMs; await sleep(50)) if (holds()) return true;
  return false;
};
const key = (...keys) => tmux("send-keys", "-t", "%0", ...keys);
async function type(text) {
  tmux("set-buffer", "-b", "record", text);
  tmux("paste-buffer", "-p", "-b", "record", "-t", "%0");
  await sleep(700);
}
/** Types, and resolves when the model has been asked. */
async function submit(text) {
  const before = api.requests().length;
  await type(text);
  key("Enter");
  const asked = () =>
    api
      .requests()
      .slice(before)
      .some((entry) => entry.text.includes(text));
  if (!(await until(asked, 30_000))) key("Enter");
  if (!(await until(asked, 60_000))) throw new Error(`${JSON.stringify(text)} never reached the model`);
}

/** The model has answered what began with this; requests for titles do not count. */
const finished = (word) =>
  until(() =>
    api.requests().some(({ side, text, done }) => side !== true && text.includes(word) && done !== undefined),
  );

const scenes = [];
function keep(name, state) {
  const [width, height, col, row, command] = show(
    "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{pane_current_command}",
  ).split(" ");
  const title = show("#{pane_title}");
  const clean = (text) =>
    text
      .replaceAll(place?.work ?? "\0", "~/work")
      .replaceAll(place?.home ?? "\0", "~")
      .replaceAll(run, "~");
  // Buttons show by their colours alone which one is chosen.
  const drawn = clean(profile === "opencode" && state === "asking" ? rows("-e", "-N") : rows())
    .split("\n")
    .map((line) => line.replace(/[␛␐]/g, "␐$&").replaceAll("\u001b", "␛").replace(/ +$/, ""))
    .join("\n");
  const fence = "`".repeat(Math.max(3, ...(drawn.match(/`+/g) ?? []).map((ticks) => ticks.length + 1)));
  scenes.push(
    `## ${name}\nstate: ${state}\ntitle: ${clean(title)}\ncommand: ${command}\ncursor: ${row},${col}\nsize: ${width}x${height}\n${fence}\n${drawn}\n${fence}\n`,
  );
  console.log(`${name} (${state}) title=${JSON.stringify(title)}`);
}

/** Heads the question that newer versions of Claude Code ask before anything else. */
const NUDGE = "auto mode your default";

let place;
function start(alter = () => undefined) {
  place = prepare(recipe);
  alter(place);
  try {
    tmux("kill-server");
  } catch {
    // None yet.
  }
  tmux("new-session", "-d", "-x", String(COLS), "-y", String(ROWS), `exec sh ${place.file}`);
  tmux("set-option", "-g", "remain-on-exit", "on");
}
const STORY = {
  async plain() {
    start(asManual);
    await until(() => facts[recipe].ready.test(rows()) || rows().includes(NUDGE), 60_000);
    await still(2_000);
    if (rows().includes(NUDGE)) {
      key("Escape");
      await still(2_000);
    }
    keep("first screen", "idle");
    await type("half a line");
    keep("half a line in the box", "idle");
    key("C-u");
    await sleep(500);
    await submit("hang 6 and think");
    await sleep(2_500);
    keep("asked, nothing answered yet", "busy");
    await finished("hang");
    await still();
    keep("after a turn", "idle");
    await submit("slow 6 words");
    await sleep(2_500);
    keep("an answer is streaming", "busy");
    await finished("slow");
    await still();
    await submit("big 6 please");
    await still();
    if (profile === "gemini") {
      keep("asks about a loop", "asking");
      key("Escape");
      await still();
    }
    keep("after a long answer", "idle");
    await submit(`${profile === "codex" ? "ask" : "tool"} touch made-by-test`);
    await still();
    if (profile !== "pi") {
      keep("asks to run a command", "asking");
      key("Escape");
      await still();
      keep("after the question was refused", "idle");
    }
    await submit("slow 30 words");
    await sleep(1_500);
    key("Escape");
    await sleep(300);
    if (profile === "opencode" || profile === "copilot") key("Escape");
    await still(1_500);
    keep("after an interrupt", "idle");
  },
  async untrusted() {
    start(untrust);
    await still(4_000);
    keep("asks whether the folder is trusted", "asking");
  },
  /** Claude Code draws what would change above its question. */
  async edits() {
    start(asManual);
    await still(4_000);
    const file = join(place.work, "prices.ts");
    writeFileSync(file, Array.from({ length: 12 }, (_none, at) => `const price${at + 1} = ${at + 1};\n`).join(""));
    const [old_string, new_string] = [
      "const price5 = 5;\nconst price6 = 6;",
      "const price5 = 50;\n// <b>half</b>\nconst price6 = 3;",
    ];
    // Only a file that it has read.
    await submit(`tool Read ${JSON.stringify({ file_path: file })}`);
    await still();
    await submit(`tool Edit ${JSON.stringify({ file_path: file, old_string, new_string })}`);
    await still();
    keep("asks to edit a file", "asking");
  },
  async hooks() {
    start(({ home }) => {
      const hooks = { Stop: [{ hooks: [{ type: "command", command: "true", timeout: 5 }] }] };
      writeFileSync(join(home, ".codex/hooks.json"), JSON.stringify({ hooks }));
    });
    await still(5_000);
    keep("asks to review hooks", "asking");
  },
  async nudge() {
    start((dirs) => asManual(dirs, "plan"));
    await still(5_000);
    keep("start-up dialog", "asking");
  },
};

const edit = (file, change) => writeFileSync(file, change(readFileSync(file, "utf8")));
/** Newer versions of Claude Code run commands by themselves unless told otherwise. */
function asManual({ home }, mode = "default") {
  const opencode = join(home, ".config/opencode/opencode.json");
  if (profile === "opencode")
    edit(opencode, (text) => JSON.stringify({ ...JSON.parse(text), permission: { bash: "ask" } }));
  if (profile !== "claude") return;
  edit(join(home, ".claude/settings.json"), (text) =>
    JSON.stringify({ ...JSON.parse(text), permissions: { defaultMode: mode } }),
  );
}
function untrust({ home }) {
  if (profile === "copilot") edit(join(home, ".copilot/config.json"), (text) => text.replace(/"[^"]*\/work"/, ""));
  if (profile === "claude")
    edit(join(home, ".claude.json"), (text) =>
      text.replace('"hasTrustDialogAccepted": true', '"hasTrustDialogAccepted": false'),
    );
  if (profile === "codex") edit(join(home, ".codex/config.toml"), (text) => text.replace(/\[projects[^[]*/, ""));
  if (profile === "gemini")
    edit(join(home, ".gemini/settings.json"), (text) =>
      text.replace('"folderTrust": {\n   "enabled": false', '"folderTrust": {\n   "enabled": true'),
    );
}

try {
  for (const name of only.length > 0 ? only : ["plain"]) await STORY[name]();
  const { VERSION: version } = process.env;
  if (version === undefined) throw new Error("give VERSION, the program's");
  const file = join(dirname(fileURLToPath(import.meta.url)), profile, version, `${only[0] ?? "plain"}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, scenes.join("\n"));
} finally {
  try {
    tmux("kill-server");
  } catch {
    // It has ended.
  }
  api.close();
  await sleep(1_500);
  rmSync(run, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
