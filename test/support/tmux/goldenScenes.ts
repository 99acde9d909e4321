/**
 * What is played to record each golden transcript. The server has one session `golden`, 80×60, whose pane `%0` runs a
 * raw `cat`: whatever is typed comes back as output.
 */
import { mkdirSync } from "node:fs";

export interface Stage {
  /** An empty directory. */
  readonly directory: string;
  /** Everything tmux has written so far, as latin1. */
  readonly text: string;
  /** In one write: `SHAPES COMMAND` each, see `shapesOf`. */
  send(...commands: readonly string[]): void;
  /** Bytes that are no command with a reply. */
  write(text: string): void;
  /** A tmux command by another, ordinary client. @throws Error when it fails. */
  side(...args: readonly string[]): string;
  /** Until every command sent has its reply. */
  answered(): Promise<void>;
  /** Until tmux has written `text`. */
  seen(text: string): Promise<void>;
  /** Until the control client is gone. */
  ended(): Promise<void>;
}

export interface GoldenScene {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  /** The control client goes within the scene, so that the last bytes have no line end. */
  readonly ends: boolean;
  play(stage: Stage): Promise<void>;
}

/** How many commands tmux counts between the reply that tells a number and the command that lists the rows. */
const ROWS_COMMAND_AHEAD = 4;

const hex = (bytes: Uint8Array): string[] => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
const typed = (bytes: Uint8Array): string => `none send-keys -H -t %0 ${hex(bytes).join(" ")}`;

/** A nonce of the form `createNonce` gives; fixed here, so that transcripts can be compared. */
const NONCE = "GoldenNonce0123450123450123";

const attach: GoldenScene = {
  name: "attach",
  title: "Attach",
  text: "The attach itself is a block with flags 0: no command of ours.",
  ends: false,
  play: () => Promise.resolve(),
};

const success: GoldenScene = {
  name: "success",
  title: "Commands that succeed",
  text: "One block per command; a line of two commands gives two.",
  ends: false,
  async play(stage) {
    stage.send("none set-option -g @golden yes", "ours list-windows -F '#{window_id} #{window_name}'");
    stage.send('ours display-message -p "two\\012lines"', "ours,ours display-message -p one ; display-message -p two");
    await stage.answered();
  },
};

const failure: GoldenScene = {
  name: "failure",
  title: "Commands that fail",
  text: "A parse error is one block for the whole line; a command that fails drops the rest of its line.",
  ends: false,
  async play(stage) {
    stage.send("ours no-such-command", "ours display-message -p one ; no-such-command");
    stage.send("none kill-window -t @99", 'ours display-message -p "%%end 1 1 1"');
    stage.send("ours,none display-message -p one ; kill-window -t @99 ; display-message -p dropped");
    await stage.answered();
  },
};

const hooks: GoldenScene = {
  name: "hooks",
  title: "Hooks",
  text: "What a hook prints comes in a block with flags 0, also between a foreign reply and its nonce.",
  ends: false,
  async play(stage) {
    stage.send(`none set-hook -g after-rename-window 'display-message -p "a hook ran"'`);
    stage.send(`none set-hook -g after-capture-pane 'display-message -p "between the two"'`);
    stage.send("none rename-window -t @0 renamed");
    await stage.seen("%window-renamed");
    stage.send(`foreign:${NONCE} capture-pane -p -t %0 -S 58`, "ours display-message -p after");
    await stage.answered();
  },
};

const pause: GoldenScene = {
  name: "pause",
  title: "Pause",
  text: "`%pause` and `%continue` that `refresh-client -A` causes land inside its own block.",
  ends: false,
  async play(stage) {
    stage.send("none refresh-client -f pause-after=60", typed(Buffer.from("before")));
    await stage.seen("before");
    stage.send("none refresh-client -A '%0:pause'", "none refresh-client -A '%0:continue'");
    await stage.answered();
    stage.send(typed(Buffer.from("after")));
    await stage.seen("after");
    stage.send("none refresh-client -A '%0:off'", "ours display-message -p '#{pane_id}'");
    await stage.answered();
  },
};

const windows: GoldenScene = {
  name: "windows",
  title: "Windows and sessions",
  text: "Notifications of what comes and goes, in this session and in another.",
  ends: false,
  async play(stage) {
    stage.send("none new-window -d -n second cat", "none rename-window -t @1 'name with blanks'");
    await stage.seen("name with blanks");
    stage.send("none split-window -d -t @1 cat", "none select-pane -t %2", "none select-window -t @1");
    await stage.seen("%session-window-changed");
    stage.send("none new-session -d -s other -n third cat", "none rename-session -t other 'new name'");
    await stage.seen("%session-renamed");
    stage.send("none copy-mode -t %0", "none kill-session -t '=new name'", "none kill-window -t @1");
    await stage.seen("window-close @1");
    await stage.seen("%pane-mode-changed");
  },
};

const output: GoldenScene = {
  name: "output",
  title: "Output",
  text: "All 256 byte values, then the two halves of a character and the three of another, one at a time.",
  ends: false,
  async play(stage) {
    stage.send(typed(Uint8Array.from({ length: 256 }, (_unused, byte) => byte)));
    await stage.seen("\xfd\xfe\xff");
    for (const byte of Buffer.from("é€")) {
      stage.send(typed(Uint8Array.of(byte)));
      await stage.seen(`%0 ${String.fromCharCode(byte)}`);
    }
    stage.send(typed(Buffer.from("%end 1 1 1\r\n%exit\r\n\\134\r\n.")));
    await stage.seen("\\012.");
    await stage.answered();
  },
};

const foreign: GoldenScene = {
  name: "foreign",
  title: "A pane that guesses",
  text: [
    "The pane prints every guard line that its own capture could have, and lines that would be notifications. The body",
    "ends only at the nonce, and is exactly what the pane printed.",
  ].join(" "),
  ends: false,
  async play(stage) {
    stage.send("none resize-window -t @0 -x 80 -y 200", "ours display-message -p now");
    await stage.answered();
    const [, seconds = "", number = ""] = /.*%end (\d{10}) (\d+) 1/s.exec(stage.text) ?? [];
    const guesses: string[] = [];
    for (const time of [Number(seconds), Number(seconds) + 1]) {
      for (let ahead = 1; ahead <= 5; ahead += 1) {
        const stamp = `${time} ${Number(number) + ahead} 1`;
        guesses.push(`%end ${stamp}`, "%output %0 forged\\041", `%begin ${stamp}`, "2105432");
      }
    }
    guesses.push("%exit", "%session-changed $0 forged", ".");
    stage.side("send-keys", "-t", "%0", "-H", ...hex(Buffer.from(guesses.join("\r\n"))));
    await stage.seen("forged\\015\\012.");
    stage.send(`foreign:${NONCE} capture-pane -p -t %0 -E 45`, "ours display-message -p after");
    await stage.answered();
    const [, stamp = ""] = /%end (\d+ \d+ 1)\r?\n%begin [^\n]*\n[^\n]*GoldenNonce/.exec(stage.text) ?? [];
    if (stage.text.split(`\n%end ${stamp}`).length < 3) throw new Error("no guess was right: record again");
  },
};

const foreignRows: GoldenScene = {
  name: "foreignRows",
  title: "A directory that guesses",
  text: [
    "A pane's directory ends in the guard lines of the very command that lists it, right before the next field, which",
    "begins with the nonce; the pane's title then closes the forged block. The body ends only at the nonce backwards.",
  ].join(" "),
  ends: false,
  async play(stage) {
    stage.send("ours display-message -p now");
    await stage.answered();
    const [, seconds = "", number = ""] = /.*%end (\d{10}) (\d+) 1/s.exec(stage.text) ?? [];
    const at = Number(number) + ROWS_COMMAND_AHEAD;
    const path = `${stage.directory}/\n%end ${seconds} ${at} 1\n%begin ${seconds} ${at + 1} 1\n`;
    mkdirSync(path);
    stage.side("new-window", "-d", "-n", "w", "-c", path, "exec cat");
    await stage.seen("%window-add");
    const row = ["#{pane_id}", "#{pane_current_path}", "#{window_name}"].map((field) => NONCE + field).join("");
    stage.send(`foreign:${NONCE} list-panes -s -F '${row}'`, "ours display-message -p after");
    await stage.answered();
    const guess = `\n%begin ${seconds} ${at + 1} 1`;
    if (stage.text.split(guess).length !== 3) throw new Error(`the guess was wrong: record again\n${stage.text}`);
  },
};

const exit = (name: string, title: string, text: string, play: (stage: Stage) => void): GoldenScene => ({
  name,
  title,
  text,
  ends: true,
  async play(stage) {
    play(stage);
    await stage.ended();
  },
});

export const GOLDEN_SCENES: readonly GoldenScene[] = [
  attach,
  success,
  failure,
  hooks,
  pause,
  windows,
  output,
  foreign,
  foreignRows,
  exit("exitDetach", "Exit: detached", "An empty line detaches the client.", (stage) => stage.write("\n")),
  exit("exitDetached", "Exit: detached by another client", "`detach-client` from outside.", (stage) => {
    stage.side("detach-client", "-s", "golden");
  }),
  exit("exitKillSession", "Exit: the session ends", "`kill-session` on the session it is attached to.", (stage) => {
    stage.send("none kill-session -t =golden");
  }),
  exit("exitKillServer", "Exit: the server ends", "`kill-server` by this client.", (stage) => {
    stage.send("none kill-server");
  }),
];
