/** node-pty as programs use it that own their terminals: `onData`, and nobody else can see or type into the pane. */
import { createRequire } from "node:module";
import type { IPty, spawn } from "@homebridge/node-pty-prebuilt-multiarch";
import { setTimeout as delay } from "node:timers/promises";
import {
  END_OF_LINES,
  INTERRUPT_MS,
  LineCount,
  PAUSE_MS,
  PeerTask,
  peerToken,
  QUIET_MS,
  ranOf,
  unixMsNow,
  withStatus,
} from "./peerDriver.ts";

const pty = createRequire(import.meta.url)("@homebridge/node-pty-prebuilt-multiarch") as {
  readonly spawn: typeof spawn;
};
const task = new PeerTask();

const startPty = (): IPty =>
  pty.spawn(task.argv[0]!, task.argv.slice(1), {
    name: "xterm-256color",
    cols: 90,
    rows: 24,
    env: process.env,
  });

/** Everything printed since the last `forget`, and who waits for something in it. */
class Printed {
  text = "";
  lastMs = performance.now();
  #found: { readonly holds: () => boolean; readonly resolve: () => void } | undefined;

  constructor(terminal: IPty) {
    terminal.onData((data) => {
      this.text += data;
      this.lastMs = performance.now();
      if (this.#found?.holds() !== true) return;
      this.#found.resolve();
      this.#found = undefined;
    });
  }

  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#found = { holds, resolve };
    });
  }
}

async function echo(terminal: IPty, printed: Printed): Promise<void> {
  await printed.until(() => printed.text.includes("ready!"));
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    const token = peerToken();
    printed.text = "";
    const startMs = performance.now();
    terminal.write(token);
    await printed.until(() => printed.text.includes(token));
    task.say("sample", performance.now() - startMs);
  }
}

async function text(terminal: IPty, printed: Printed): Promise<void> {
  await printed.until(() => printed.text.includes("ready!"));
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    printed.text = "";
    terminal.write("g");
    await printed.until(() => printed.text.includes(`late-${at}.`));
    task.say("known", at, unixMsNow());
  }
}

async function run(terminal: IPty, printed: Printed): Promise<void> {
  await printed.until(() => printed.text.includes("$ "));
  await task.begin();
  for (let at = 0; at < task.count; at += 1) {
    const command = (await task.heard()) ?? "";
    const startMs = performance.now();
    printed.text = "";
    terminal.write(`${withStatus(command)}\r`);
    // The shell takes the next command when its prompt is there; typed before, it would stand in the output.
    await printed.until(() => /status:\d+\r\n\$ $/.test(printed.text));
    const { status, hex } = ranOf(printed.text, command);
    task.say("ran", performance.now() - startMs, status, hex);
  }
}

async function follow(): Promise<void> {
  const counts = Array.from({ length: task.count }, () => {
    const count = new LineCount();
    startPty().onData((data) => count.piece(data));
    return count;
  });
  await task.begin();
  await task.heard();
  for (const { seen } of counts) task.say("seen", seen);
}

async function lines(): Promise<void> {
  const count = new LineCount();
  const terminal = startPty();
  let onEnd: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  terminal.onData((data) => {
    count.piece(data);
    if (data.includes(END_OF_LINES)) onEnd();
  });
  await task.begin();
  const startMs = performance.now();
  terminal.write("\r");
  await ended;
  task.say("sample", performance.now() - startMs);
  task.say("seen", count.seen);
}

async function prompts(terminal: IPty, printed: Printed): Promise<void> {
  const launch = async (line: string): Promise<void> => {
    terminal.write("\u0003");
    await delay(INTERRUPT_MS);
    terminal.write(`${line}\r`);
  };
  const prompt = async (given: string): Promise<string> => {
    while (performance.now() - printed.lastMs < QUIET_MS) await delay(QUIET_MS);
    terminal.write(given);
    await delay(PAUSE_MS);
    terminal.write("\r");
    return "delivered";
  };
  await printed.until(() => printed.text.includes("$ "));
  await task.serve(launch, prompt);
}

const IN_ONE: Readonly<Record<string, (terminal: IPty, printed: Printed) => Promise<void>>> = {
  echo,
  text,
  run,
  prompts,
};
const OTHERS: Readonly<Record<string, () => Promise<void>>> = { follow, lines };

if (Object.hasOwn(OTHERS, task.job)) await OTHERS[task.job]!();
else {
  const terminal = startPty();
  await IN_ONE[task.job]!(terminal, new Printed(terminal));
}
if (task.job !== "prompts") await task.end();
process.exit(0);
