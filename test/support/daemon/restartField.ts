/**
 * The daemon as people have it: every adapter on, two tmux servers of its own and one of the user's, a chatty program in
 * each, and somebody who watches it. It is ended at any moment and started again; what it must not leave behind is looked
 * for where the kernel shows it, in the descriptors of every process of those servers.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createClient, type TmuxwireClient } from "../../../adapters/client/client.ts";
import { type CliSandbox, cliSandbox, type Running } from "./cliSandbox.ts";
import { eventually } from "../clock/eventually.ts";
import { type PrivateSocket, privateSocket } from "../tmux/ownedFixture.ts";
import { sinceMs } from "./loadReport.ts";

/** `/dev/pts/N` for the other end of a master. */
function terminalOf(pid: number, fd: string): string {
  const index = /^tty-index:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1];
  return `/dev/pts/${index ?? "?"}`;
}

/** Descriptor and what it is open on; none when the process has gone. */
function descriptors(pid: number): readonly (readonly [fd: string, target: string])[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
        return [[fd, target.endsWith("/ptmx") ? `master of ${terminalOf(pid, fd)}` : target] as const];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Targets that any two processes may have open; event queues of one kind are all called the same. */
const isAnybodys = (target: string): boolean => /^(anon_inode:|\/dev\/(null|pts\/|tty))/.test(target);

interface Examined {
  readonly pid: number;
  readonly what: string;
  /** Terminals that it may hold the other end of. */
  readonly ownTerminals?: readonly string[];
}

function foreignDescriptors(processes: readonly Examined[], daemon: number | undefined): readonly string[] {
  // What we were started with ourselves went to everybody.
  const everybodys = new Set(descriptors(process.pid).map(([, target]) => target));
  const daemons = new Set(daemon === undefined ? [] : descriptors(daemon).map(([, target]) => target));
  return processes.flatMap(({ pid, what, ownTerminals = [] }) => {
    const own = new Set(ownTerminals.map((terminal) => `master of ${terminal}`));
    return descriptors(pid)
      .filter(([, target]) => !isAnybodys(target) && !own.has(target) && !everybodys.has(target))
      .filter(([, target]) => target.startsWith("master of ") || daemons.has(target))
      .map(([fd, target]) => `${what} ${pid} has ${fd}: ${target}`);
  });
}

function parentOf(pid: number): number | undefined {
  try {
    // The name may hold anything; after its last parenthesis come the state and the parent.
    return Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ")[1]);
  } catch {
    return undefined;
  }
}

const READY_WITHIN_MS = 3_000;
/** A bare `node` on an idle machine of the kind that runs these tests; a start of the daemon is mostly such work. */
const BARE_NODE_MS = 100;
/** A client is told by the kernel that its daemon has gone, and the server by the client. */
const GONE_WITHIN_MS = 3_000;
/** Enough for tmux to have output under way whenever a client goes, and little enough for 200 restarts. */
const CHATTY = "while :; do seq 1 1500; sleep 0.2; done";

interface FieldDaemon {
  readonly process: Running;
  readonly client: TmuxwireClient;
  /** From its start until every server was ready. */
  readonly readyMs: number;
  /** What that may take: 3 s on a machine that is not busy with something else. */
  readonly limitMs: number;
}

interface RestartField extends AsyncDisposable {
  readonly sandbox: CliSandbox;
  readonly user: PrivateSocket;
  /** The sockets of the servers that the daemon starts. */
  readonly owned: readonly string[];
  /** A process, of which nothing is known yet. */
  launch(): Running;
  /** @throws Error what it wrote, when it ends */
  start(): Promise<FieldDaemon>;
  /** Somebody follows the chatty panes, until the daemon goes. */
  watch(daemon: FieldDaemon): Promise<void>;
  end(daemon: Running, signal: NodeJS.Signals): Promise<void>;
  /** What is there besides what belongs there; empty when all checks passed. `daemon` is the one that runs, if any. */
  leftovers(daemon?: number): Promise<readonly string[]>;
}

export async function restartField(): Promise<RestartField> {
  const sandbox = cliSandbox();
  const user = privateSocket();
  user.tmux("-f", "/dev/null", "new-session", "-d", "-s", "chatty", "sh", "-c", CHATTY);
  user.tmux("new-session", "-d", "-s", "idle", "cat");
  const addin = sandbox.path("tmp/pi-for-excel-tmux-bridge/tmux.sock");
  const owned = [sandbox.tmuxSocketPath, addin];
  const args = ["serve", "--http", "--addin-port", "0", "--port", "0", "--server", `user=${user.socketPath}`];

  const launch = (): Running => sandbox.start([...args, "--dashboard-tmux-socket", user.socketPath]);

  const start = async (): Promise<FieldDaemon> => {
    const limitMs = READY_WITHIN_MS * slowness();
    const startMs = performance.now();
    const running = launch();
    await running.line(/^dashboard listening on /m);
    const [, url = ""] = await running.line(/native API listening on (http:\S+)/);
    const token = readFileSync(sandbox.tokenPath, "utf8").trim();
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 200);
    return { process: running, client: createClient({ url, token }), readyMs: sinceMs(startMs), limitMs };
  };

  const field: RestartField = {
    sandbox,
    user,
    owned,
    launch,
    start,
    watch: async ({ client, process: running }) => {
      const gone = new AbortController();
      void running.finished.then(() => gone.abort());
      const panes = ["main", "user"].map((name) => client.server(name).pane("chatty"));
      await Promise.all(
        panes.map(async (pane) => {
          const events = pane.follow({ from: "now", signal: gone.signal })[Symbol.asyncIterator]();
          await events.next();
          const readOn = async (): Promise<void> => {
            while ((await events.next()).done !== true);
          };
          void readOn().catch(() => undefined);
        }),
      );
    },
    end: async (running, signal) => {
      running.child.kill(signal);
      await running.finished;
    },
    leftovers: async (daemon) => {
      const deadlineMs = performance.now() + GONE_WITHIN_MS;
      for (;;) {
        const found = [...owned, user.socketPath].flatMap((socket) => leftAt(socket, owned.includes(socket), daemon));
        if (found.length === 0 || performance.now() > deadlineMs) return found;
        await delay(20);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await sandbox[Symbol.asyncDispose]();
      await user[Symbol.asyncDispose]();
    },
  };
  try {
    const daemon = await start();
    for (const name of ["chatty", "idle"]) {
      await daemon.client
        .server("main")
        .createSession({ name, command: name === "idle" ? ["cat"] : ["sh", "-c", CHATTY] });
    }
    // The add-in's server is reached by its own contract; a session is a session.
    sandbox.tmux(addin, "new-session", "-d", "-s", "chatty", "sh", "-c", CHATTY);
    await field.watch(daemon);
    await field.end(daemon.process, "SIGKILL");
    return field;
  } catch (error) {
    await field[Symbol.asyncDispose]();
    throw error;
  }
}

/** tmux does not list those that are on their way out, and they can be so for ever (docs/tmuxFacts.md 3a). */
const controlClientsOf = (socketPath: string): readonly number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      const [program, mode, ...words] = wordsOf(pid);
      return program === "tmux" && (mode === "-C" || mode === "-CC") && words.includes(socketPath);
    });

function wordsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** How many times slower than an idle machine this one is at the moment; 1 at least. */
function slowness(): number {
  const startMs = performance.now();
  spawnSync(process.execPath, ["-e", "0"]);
  return Math.max(1, sinceMs(startMs) / BARE_NODE_MS);
}

/** What there is at one server besides what belongs there. */
function leftAt(socketPath: string, isOwned: boolean, daemon: number | undefined): readonly string[] {
  const list = (...args: string[]): readonly string[] => {
    const { status, stdout, stderr } = spawnSync("tmux", ["-u", "-S", socketPath, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout.split("\n").filter((line) => line !== "");
  };
  const [server = ""] = list("display-message", "-p", "#{pid}");
  const panes = list("list-panes", "-a", "-F", "#{pane_pid} #{pane_tty}").map((row) => row.split(" "));
  const clients = list("list-clients", "-F", "#{client_pid}").map(Number);
  const problems: string[] = [];
  const hubs = list("list-sessions", "-F", "#{session_name}").filter((name) => name.startsWith("__tmuxwire-")).length;
  const expected = isOwned && daemon !== undefined ? 1 : 0;
  if (hubs !== expected) problems.push(`${hubs} hubs on ${socketPath}, not ${expected}`);
  const processes: Examined[] = [
    { pid: Number(server), what: "server", ownTerminals: panes.map(([, tty = ""]) => tty) },
    ...panes.map(([pid]) => ({ pid: Number(pid), what: "pane" })),
  ];
  for (const client of clients) {
    // A client of a guest before 3.7 is no process but the daemon itself.
    if (client === daemon) continue;
    // A client may have a guard between itself and the daemon.
    const parent = parentOf(client);
    processes.push({ pid: client, what: "client" });
    if (parent === daemon) continue;
    const isGuarded = parent !== undefined && daemon !== undefined && parentOf(parent) === daemon;
    if (isGuarded) processes.push({ pid: parent, what: "guard" });
    else problems.push(`client ${client} on ${socketPath} has outlived its daemon`);
  }
  // The server of one that we started has that client's command line.
  for (const client of controlClientsOf(socketPath).filter((pid) => pid !== Number(server))) {
    const parent = parentOf(client);
    const isOurs = daemon !== undefined && (parent === daemon || (parent !== undefined && parentOf(parent) === daemon));
    if (!isOurs) problems.push(`process ${client} of a client on ${socketPath} has outlived its daemon`);
  }
  return [...problems, ...foreignDescriptors(processes, daemon)];
}
