/**
 * Waits that type into shells whose editors draw more than what is typed: completions, their lists, what they find in the
 * history, suggestions, the line anew. Each waits for a word that its command prints once; a match before the editor has
 * ended (`?2004l`) is a false one.
 */
import { mkdirSync, mkdtempSync, rmSync, existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PaneClient } from "../../../adapters/client/client.ts";
import { type OutputSource, slicesOf } from "../../../daemon/tmux/outputSource.ts";
import type { NativeInputPart } from "../../../protocol/api/native/nativeRequests.ts";
import { eventually } from "../clock/eventually.ts";
import { ownedApi } from "../daemon/ownedApi.ts";
import { shellsNamed } from "./shells.ts";

const text = (typed: string): NativeInputPart => ({ kind: "text", text: typed });
const keys = (...names: string[]): NativeInputPart => ({ kind: "keys", keys: names });
const enter = keys("Enter");

interface Redraw {
  /** What is typed. The command prints `word`, and the line has it, or gets it from the shell. */
  readonly typed: (word: string, shell: EditingShell) => NativeInputPart[];
  /** A line that is in the history before, and what is typed and shows the word before the wait begins. */
  readonly before?: (word: string) => string;
  readonly begun?: (word: string) => string;
  /** Typed when the wait is under way, without which the line has no Enter. */
  readonly later?: readonly NativeInputPart[];
  readonly suggests?: true;
}

const LONG = "x".repeat(200);

const REDRAWS: Readonly<Record<string, Redraw>> = {
  "Tab Tab Enter": { typed: (word) => [text(`echo ${word} /us`), keys("Tab", "Tab"), enter] },
  "a list, and the word in it": {
    typed: (word) => [text(`echo ${word.slice(0, -1)}`), keys("Tab", "Tab"), text("*"), enter],
  },
  "the word completed": { typed: (word) => [text(`echo ${word.slice(0, -3)}`), keys("Tab"), text("*"), enter] },
  "a search in the history": {
    before: (word) => `echo ${word}`,
    typed: (word, { name }) =>
      name === "fish"
        ? [text(`echo ${word.slice(0, -1)}`), keys("Up"), enter]
        : [keys("C-r"), text(word.slice(0, -1)), enter],
  },
  "the line before": { before: (word) => `echo ${word}`, typed: () => [keys("Up"), enter] },
  "a suggestion": {
    before: (word) => `: see ${word}`,
    begun: (word) => `: see ${word.slice(0, -2)}`,
    typed: (word) => [keys("BSpace"), text(`${word.slice(-3, -2)}; echo ${word.slice(0, 3)}''${word.slice(3)}`), enter],
    suggests: true,
  },
  "C-l": { typed: (word) => [text(`echo ${word}`), keys("C-l"), enter] },
  "several rows, drawn anew": {
    typed: (word) => [text(`: ${LONG}; echo ${word}`), keys("C-a", "C-e", "C-l", "Left", "Left", "C-e"), enter],
  },
  "several lines": {
    typed: (word, { name }) => [text(name === "fish" ? `begin\necho ${word}\nend\n` : `{\necho ${word}\n}\n`)],
  },
  "characters taken back": { typed: (word) => [text(`echo ${word}zz`), keys("BSpace", "BSpace"), enter] },
  "no Enter, C-l": { typed: (word) => [text(`echo ${word}`)], later: [keys("C-l"), enter] },
  "no Enter, Tab Tab": { typed: (word) => [text(`echo ${word} /us`)], later: [keys("Tab"), keys("Tab"), enter] },
};

interface EditingShell {
  readonly name: string;
  readonly command: readonly string[];
  readonly suggests: boolean;
}

const PLUGINS = ["zsh-autosuggestions/zsh-autosuggestions.zsh", "zsh-syntax-highlighting/zsh-syntax-highlighting.zsh"];
const PLUGIN_FILES = PLUGINS.map((file) => join("/usr/share", file));

/** With an editor that announces itself: fish as its own start-up files make it, zsh bare and with plugins. */
export function editingShells(): readonly EditingShell[] {
  const bare = shellsNamed("bash", "zsh").map((shell) => ({ ...shell, suggests: false }));
  const fish = shellsNamed("fish").map(({ name }) => ({ name, command: ["fish"], suggests: true }));
  const hasPlugins = PLUGIN_FILES.every((file) => existsSync(file));
  if (!hasPlugins) console.log("zsh's plugins are not installed: their tests are left out");
  const withPlugins = bare.some(({ name }) => name === "zsh") && hasPlugins;
  return [
    ...bare,
    ...(withPlugins ? [{ name: "zsh with plugins", command: ["zsh", "-i"], suggests: true }] : []),
    ...fish,
  ];
}

interface Redrawn {
  readonly shell: string;
  readonly redraw: string;
  readonly rounds: number;
  /** Ended by what the editor drew. */
  readonly false: number;
  /** Did not end by what the command printed. */
  readonly missed: number;
  /** Half of the waits had ended this long after the output that ended them had been read, at most. */
  readonly lateMs: number;
}

/** Every redraw, as often, in one shell. */
export async function redrawnIn(shell: EditingShell, rounds: number, only = Object.keys(REDRAWS)): Promise<Redrawn[]> {
  const home = mkdtempSync(join(tmpdir(), "tw-redraw-"));
  const words = join(home, "words");
  mkdirSync(words);
  // Otherwise fish makes it in the background and fills it.
  mkdirSync(join(home, "fish/generated_completions/none"), { recursive: true });
  const sources = PLUGIN_FILES.map((file) => `source ${file}\n`).join("");
  writeFileSync(join(home, ".zshrc"), `HISTFILE=; PS1='%m $ '\nautoload -U compinit; compinit -u\n${sources}`);
  try {
    await using api = await ownedApi();
    const { pane: client, session } = await api.session({
      command: shell.command,
      cwd: words,
      cols: 90,
      environment: { HOME: home, ZDOTDIR: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
    });
    const source = api.owned.server.output(session.activePane!);
    await until(source, 0, EDITOR_ON);
    const done: Redrawn[] = [];
    for (const name of only) {
      const redraw = REDRAWS[name]!;
      if (redraw.suggests === true && !shell.suggests) continue;
      const ends: Ended[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const word = `W${Object.keys(REDRAWS).indexOf(name)}n${String(round).padStart(3, "0")}qA`;
        writeFileSync(join(words, word), "");
        writeFileSync(join(words, `${word.slice(0, -1)}B`), "");
        // oxlint-disable-next-line no-await-in-loop -- one line after the other
        ends.push(await oneRound({ client, source, shell, redraw, word }));
      }
      const late = ends.map(({ lateMs }) => lateMs).sort((a, b) => a - b);
      done.push({
        shell: shell.name,
        redraw: name,
        rounds,
        false: ends.filter(({ kind }) => kind === "false").length,
        missed: ends.filter(({ kind }) => kind === "missed").length,
        lateMs: Math.round(late[late.length >> 1] ?? 0),
      });
    }
    return done;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Ended {
  readonly kind: "true" | "false" | "missed";
  readonly lateMs: number;
}

interface Round {
  readonly client: PaneClient;
  readonly source: OutputSource;
  readonly shell: EditingShell;
  readonly redraw: Redraw;
  readonly word: string;
}

const EDITOR_ON = "\u001b[?2004h";
const EDITOR_OFF = "\u001b[?2004l";

async function oneRound({ client, source, shell, redraw, word }: Round): Promise<Ended> {
  if (redraw.before !== undefined) {
    const from = source.outputSeq;
    await client.type(redraw.before(word), { enter: true });
    await untilPrompt(source, from);
  }
  if (redraw.begun !== undefined) {
    await client.type(redraw.begun(word));
    // The end of the word is the suggestion's.
    await untilShown(client, word);
  }
  const from = source.outputSeq;
  const isEnded = { at: 0 };
  const wait = client
    .wait({ send: { parts: redraw.typed(word, shell) }, pattern: { literal: word }, timeoutMs: 40_000 })
    .catch((error: unknown) => error as Error)
    .finally(() => (isEnded.at = performance.now()));
  if (redraw.later !== undefined) await untilShown(client, word);
  for (const part of redraw.later ?? []) {
    const before = source.outputSeq;
    await client.input([part]);
    await eventually(() => source.outputSeq > before);
  }
  const printedMs = untilPrinted(source, from, word);
  const answer = await wait;
  await untilPrompt(source, from);
  if (answer instanceof Error) return { kind: "missed", lateMs: 0 };
  const at = Number(answer.matched[0]?.from?.split(":")[1]);
  const before = read(source, from).slice(0, at - from);
  const isFalse = before.lastIndexOf(EDITOR_OFF) <= before.lastIndexOf(EDITOR_ON);
  return { kind: isFalse ? "false" : "true", lateMs: Math.max(0, isEnded.at - (await printedMs)) };
}

const read = (source: OutputSource, from: number): string =>
  [...slicesOf(source, from, source.outputSeq)]
    .map((slice) => (slice.kind === "bytes" ? Buffer.from(slice.bytes).toString("latin1") : ""))
    .join("");

const until = (source: OutputSource, from: number, wanted: string): Promise<void> =>
  eventually(() => read(source, from).includes(wanted));

/** The line that is being edited shows it: the output has it in as many pieces and colours as the editor likes. */
const untilShown = (client: PaneClient, wanted: string): Promise<void> =>
  eventually(
    async () => (await client.capture()).lines.findLast((line) => line.trim() !== "")?.includes(wanted) === true,
  );

/** The command has run, and the shell reads again. */
const untilPrompt = (source: OutputSource, from: number): Promise<void> =>
  eventually(() => {
    const all = read(source, from);
    return all.includes(EDITOR_OFF) && all.lastIndexOf(EDITOR_ON) > all.lastIndexOf(EDITOR_OFF);
  });

/** When the output behind the editor's end holds the word. */
async function untilPrinted(source: OutputSource, from: number, word: string): Promise<number> {
  await eventually(() => {
    const all = read(source, from);
    return all.includes(word, all.indexOf(EDITOR_OFF) + 1) && all.includes(EDITOR_OFF);
  }, 1);
  return performance.now();
}
