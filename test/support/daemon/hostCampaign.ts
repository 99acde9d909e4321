/**
 * A daemon here, one behind a real sshd, and everything between them cut again and again while a pane there floods and another
 * takes input. What arrives is compared with what was printed and typed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { createClient, type PaneEvent, TmuxwireError } from "../../../adapters/client/client.ts";
import { unixFetch } from "../../../adapters/serving/unixFetch.ts";
import { eventually } from "../clock/eventually.ts";
import { type CliSandbox, cliSandbox, type Running } from "./cliSandbox.ts";
import { delayedPort } from "./delayedPort.ts";
import { type SshHost, sshHost } from "./sshHost.ts";

const CUTS = ["ssh killed", "sshd away", "far daemon killed", "near daemon killed", "session stopped"] as const;
/** Without a daemon there. */
const AGENTLESS_CUTS = ["ssh killed", "sshd away", "line cut", "near daemon killed", "session stopped"] as const;
type Cut = (typeof CUTS)[number] | (typeof AGENTLESS_CUTS)[number];

interface CampaignOptions {
  readonly cuts: number;
  /** The longest of them. */
  readonly maxMs: number;
  readonly random: () => number;
  /** The host has tmux alone. */
  readonly agentless?: boolean;
  readonly onCut?: ((cut: Cut, at: number) => void) | undefined;
}

interface CampaignResult {
  /** Bytes that came, and gaps that were declared. */
  readonly bytes: number;
  readonly gaps: number;
  /** Inputs that were confirmed, and those of which nobody knows. */
  readonly typed: number;
  readonly indeterminate: number;
  readonly cuts: Readonly<Partial<Record<Cut, number>>>;
}

const SERVER = "main@build";

export async function hostCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { cuts, maxMs, random, agentless = false, onCut } = options;
  await using host = await sshHost({ hasTmuxwire: !agentless });
  await using line = await delayedPort(host.port, 0);
  await using here = cliSandbox();
  let daemon = await here.serve();
  const config = host.configThrough(line.port);
  const add = ["hosts", "add", "build", "build", "--ssh-config", config, ...(agentless ? ["--agentless"] : [])];
  const added = await here.run(add);
  expect([added.code, added.stderr]).toEqual([0, ""]);
  const token = readFileSync(here.tokenPath, "utf8").trim();
  const client = createClient({ url: "http://localhost", token, fetch: unixFetch(here.socketPath) }).server(SERVER);
  const typedPath = host.sandbox.path("typed");
  const flood = ["sh", "-c", "stty -opost; i=0; while :; do i=$((i+1)); echo line $i.; sleep 0.002; done"];
  await client.createSession({ name: "flood", command: flood });
  await client.createSession({ name: "typed", command: ["sh", "-c", `stty -echo; exec cat >${typedPath}`] });
  const ended = new AbortController();
  const checked = new StreamCheck();
  const following = (async () => {
    for await (const event of client.pane("flood").follow({ signal: ended.signal })) checked.take(event);
  })().catch((error: unknown) => {
    if (!ended.signal.aborted) throw error;
  });
  const outcomes: ("typed" | "indeterminate")[] = [];
  const typing = (async () => {
    while (!ended.signal.aborted) outcomes.push(await typeOnce(client, outcomes.length));
  })();

  const counts: Partial<Record<Cut, number>> = {};
  for (let at = 0; at < cuts; at += 1) {
    const kinds = agentless ? AGENTLESS_CUTS : CUTS;
    const cut = kinds[Math.floor(random() * kinds.length)]!;
    const forMs = 100 * (maxMs / 100) ** random();
    onCut?.(cut, at);
    daemon = await CUT[cut]({ host, here, line, daemon, forMs });
    counts[cut] = (counts[cut] ?? 0) + 1;
    const [seen, typed] = [checked.bytes, outcomes.filter((outcome) => outcome === "typed").length];
    // Both go on: what was cut has been restored.
    await eventually(
      () => checked.bytes > seen && outcomes.filter((outcome) => outcome === "typed").length > typed,
      90,
    );
    await pause(random() * 300);
  }
  ended.abort();
  await Promise.all([following, typing]);
  const lines = await until(() => readFileSync(typedPath, "utf8"), outcomes);
  // Confirmed ones are there once; one of which nobody knows at most once; all in their order.
  const numbers = lines.split("\n").filter(Boolean).map(Number);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
  const there = new Set(numbers);
  expect(outcomes.flatMap((outcome, at) => (outcome === "typed" && !there.has(at) ? [at] : []))).toEqual([]);
  expect(numbers.filter((number) => number >= outcomes.length)).toEqual([]);
  // Whoever was cut off is not attached any more.
  if (agentless) await eventually(() => clientsOf(host).length === 1);
  const typed = outcomes.filter((outcome) => outcome === "typed").length;
  return { bytes: checked.bytes, gaps: checked.gaps, typed, indeterminate: outcomes.length - typed, cuts: counts };
}

/** Sends a line until it is typed, or nobody knows whether it was. */
async function typeOnce(client: ReturnType<ReturnType<typeof createClient>["server"]>, number: number) {
  for (;;) {
    try {
      await client.pane("typed").type(String(number), { enter: true });
      return "typed" as const;
    } catch (error) {
      if (!(error instanceof TmuxwireError)) throw error;
      const { code, details, cause } = error;
      if (details?.["delivery"] === "indeterminate") return "indeterminate";
      // The daemon here was killed: whether it had passed it on, nobody knows; a refused connection passes nothing.
      const isRefused = cause instanceof Error && /no daemon listens/.test(cause.message);
      if (code === "DAEMON_UNREACHABLE" && details === undefined && !isRefused) return "indeterminate";
      if (code !== "DAEMON_UNREACHABLE" && code !== "CONNECTION_LOST" && code !== "SHUTTING_DOWN") throw error;
      await pause(20);
    }
  }
}

/** The file has the last line that was confirmed. */
async function until(read: () => string, outcomes: readonly string[]): Promise<string> {
  const last = outcomes.lastIndexOf("typed");
  await eventually(() => read().split("\n").includes(String(last)));
  return read();
}

/** Who is attached to the server that a daemon elsewhere has on the host. */
function clientsOf({ sandbox }: SshHost): readonly string[] {
  const socketPath = sandbox.path("tmp", `tmux-${process.getuid?.()}`, "tmuxwire");
  return sandbox.tmux(socketPath, "list-clients", "-F", "#{client_pid}").split("\n").filter(Boolean);
}

/** Every byte once and in order, each hole declared, by positions and by what is printed. */
class StreamCheck {
  bytes = 0;
  gaps = 0;
  #epoch = "";
  #at: number | undefined;
  #carry = "";
  #last: number | undefined;

  take(event: PaneEvent): void {
    if (event.kind === "gap") this.gaps += 1;
    if (event.kind === "open" || event.kind === "snapshot") {
      [this.#epoch, this.#at] = placeOf(event.position);
      this.#carry = "";
      this.#last = undefined;
    }
    if (event.kind !== "output") return;
    const [epoch, end] = placeOf(event.position);
    const start = end - event.bytes.length;
    if (epoch !== this.#epoch || start !== this.#at)
      throw new Error(`output from ${epoch}:${start} after ${this.#epoch}:${this.#at}, and no gap declared`);
    this.#at = end;
    this.bytes += event.bytes.length;
    const lines = (this.#carry + Buffer.from(event.bytes).toString()).split("\n");
    this.#carry = lines.pop() ?? "";
    for (const line of lines) {
      const number = Number(/^line (\d+)\.$/.exec(line.trim())?.[1] ?? Number.NaN);
      // The first may have begun before.
      const isNext = this.#last === undefined || number === this.#last + 1;
      if (!isNext) throw new Error(`${JSON.stringify(line)} after line ${this.#last}`);
      if (!Number.isNaN(number)) this.#last = number;
    }
  }
}

function placeOf(position: string): [string, number] {
  const at = position.indexOf(":");
  return [position.slice(0, at), Number(position.slice(at + 1))];
}

interface CutScene {
  readonly host: SshHost;
  readonly here: CliSandbox;
  readonly line: Awaited<ReturnType<typeof delayedPort>>;
  readonly daemon: Running;
  readonly forMs: number;
}

/** Each resolves with the daemon that runs here afterwards. */
const CUT: Readonly<Record<Cut, (scene: CutScene) => Promise<Running>>> = {
  "ssh killed": async ({ here, daemon }) => {
    for (const pid of processes((line) => line.startsWith("ssh ") && line.includes(here.root))) kill(pid, "SIGKILL");
    return daemon;
  },
  "sshd away": async ({ host, here, daemon, forMs }) => {
    await host.stop();
    for (const pid of processes((line) => line.startsWith("ssh ") && line.includes(here.root))) kill(pid, "SIGKILL");
    await pause(forMs);
    await host.start();
    return daemon;
  },
  "far daemon killed": async ({ host, daemon }) => {
    const pid = host.daemonPid();
    if (pid !== undefined) kill(pid, "SIGKILL");
    return daemon;
  },
  "line cut": async ({ line, daemon }) => {
    line.cutLines();
    return daemon;
  },
  "near daemon killed": async ({ here, daemon }) => {
    daemon.child.kill("SIGKILL");
    await daemon.finished;
    return here.serve();
  },
  "session stopped": async ({ host, daemon, forMs }) => {
    const stopped = processes((line) => line.startsWith("sshd: "), host.sshdPid());
    for (const pid of stopped) kill(pid, "SIGSTOP");
    await pause(forMs);
    for (const pid of stopped) kill(pid, "SIGCONT");
    return daemon;
  },
};

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

/** @param ancestor only those that come from it */
function processes(matches: (line: string) => boolean, ancestor?: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return matches(line) && (ancestor === undefined || comesFrom(Number(pid), ancestor)) ? [Number(pid)] : [];
      } catch {
        return [];
      }
    });
}

function comesFrom(pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1;) {
    if (at === ancestor) return at !== pid;
    at = Number(/^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${at}/stat`, "utf8"))?.[1] ?? 0);
  }
  return false;
}
