/** A shell at its prompt in a terminal with our completions loaded: a person types, presses Tab, and looks. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../../adapters/commands/commandTable.ts";
import { completionScript, type Shell } from "../../../adapters/cli/completions.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { eventually } from "../clock/eventually.ts";
import type { OwnedFixture } from "../tmux/ownedFixture.ts";
import { keys, text } from "../tmux/panePrograms.ts";

const PROMPT = "type>";
/** Every list fits on the screen. */
const [COLS, ROWS] = [200, 120];
/** A shell that has not done it by then does something else; the first line of zsh reads all of its completions. */
const GIVE_UP_MS = 60_000;

interface Start {
  readonly command: readonly string[];
  /** Sets the prompt and loads the script. */
  readonly setUp: (path: string) => string;
}

const STARTS: Readonly<Record<Shell, Start>> = {
  bash: {
    command: ["bash", "--norc", "--noprofile", "-i"],
    setUp: (path) => `PS1='${PROMPT} '; . ${path}; clear`,
  },
  zsh: {
    command: ["zsh", "-f", "-i"],
    // LISTMAX: lists without asking.
    setUp: (path) => `PROMPT='${PROMPT} '; LISTMAX=0; autoload -Uz compinit; compinit -D -u; . ${path}; clear`,
  },
  fish: {
    command: ["fish", "--no-config"],
    setUp: (path) =>
      `function fish_prompt; echo '${PROMPT} '; end; set -g fish_autosuggestion_enabled 0; source ${path}; clear`,
  },
};

export class ShellPrompt {
  readonly #fixture: OwnedFixture;
  readonly #pane: PaneId;
  readonly #shell: Shell;

  private constructor(fixture: OwnedFixture, pane: PaneId, shell: Shell) {
    this.#fixture = fixture;
    this.#pane = pane;
    this.#shell = shell;
  }

  /**
   * In a directory with `only-file` and `only-directory`.
   * @param names what the program prints as names, whatever their kind
   */
  static async open(fixture: OwnedFixture, shell: Shell, names: readonly string[] = []): Promise<ShellPrompt> {
    const { directory } = fixture.socket;
    const path = join(directory, `script.${shell}`);
    writeFileSync(path, completionScript(shell, { name: "tmuxwire", commands: COMMANDS }));
    const cwd = join(directory, "files");
    mkdirSync(join(cwd, "only-directory"), { recursive: true });
    writeFileSync(join(cwd, "only-file"), "");
    const printed = names.map((name) => `echo ${name}\n`).join("");
    writeFileSync(join(directory, "tmuxwire"), `#!/bin/sh\n${printed}`, { mode: 0o755 });
    const { command, setUp } = STARTS[shell];
    const { activePane } = await fixture.server.createSession({ name: shell, command, cwd, cols: COLS, rows: ROWS });
    const prompt = new ShellPrompt(fixture, activePane!, shell);
    await prompt.#line(`export PATH="${directory}:$PATH"; ${setUp(path)}`, "Enter");
    await prompt.#ready();
    return prompt;
  }

  /** What becomes of the line when Tab is pressed: `wanted`, or what it is instead when it does not become that. */
  async completed(typed: string, wanted: string): Promise<string> {
    await this.#line(`tmuxwire ${typed}`, "Tab");
    const [line = ""] = await this.#until(([first]) => first === `${PROMPT} tmuxwire ${wanted}`);
    await this.#clear();
    return line.replace(`${PROMPT} tmuxwire `, "");
  }

  /** Those of `wanted` that are not listed below the line after Tab. */
  async notOffered(typed: string, wanted: readonly string[]): Promise<readonly string[]> {
    // The first Tab only completes what is common, in bash.
    await this.#line(`tmuxwire ${typed}`, ...(this.#shell === "bash" ? ["Tab", "Tab"] : ["Tab"]));
    const missing = (lines: readonly string[]): readonly string[] => {
      const words = new Set(
        lines
          .slice(1)
          .join(" ")
          .split(/[\s,()]+/),
      );
      return wanted.filter((word) => !words.has(word));
    };
    const lines = await this.#until((shown) => missing(shown).length === 0);
    await this.#clear();
    return missing(lines);
  }

  async #clear(): Promise<void> {
    await this.#line("", "C-u", "C-l");
    await this.#ready();
  }

  async #ready(): Promise<void> {
    const lines = await this.#until((shown) => shown.length === 1 && shown[0] === PROMPT);
    if (lines.length !== 1 || lines[0] !== PROMPT) throw new Error(`no empty prompt:\n${lines.join("\n")}`);
  }

  async #line(typed: string, ...pressed: readonly string[]): Promise<void> {
    await this.#fixture.server.input(this.#pane, [text(typed), keys(...pressed)]);
  }

  /** The screen without empty lines, as soon as it is as wanted or it is late. */
  async #until(wanted: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    let lines: readonly string[] = [];
    const giveUpMs = performance.now() + GIVE_UP_MS;
    await eventually(async () => {
      const screen = await this.#fixture.server.capture(this.#pane);
      lines = screen.lines.map((line) => line.trimEnd()).filter((line) => line !== "");
      return wanted(lines) || performance.now() > giveUpMs;
    });
    return lines;
  }
}
