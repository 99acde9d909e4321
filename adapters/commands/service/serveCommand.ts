/** `tmuxwire serve` and `tmuxwire addin`: the daemon in the foreground. Start-up lines on stdout, the log on stderr as JSON lines. */
import type { ConfigInputs } from "../../../daemon/ops/daemonConfig.ts";
import { STOP_SIGNALS, type StopReason, untilStopRequested } from "../../../daemon/ops/lifecycle.ts";
import { createLog } from "../../../daemon/ops/log.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { shuttingDown } from "../../../protocol/errors.ts";
import { ADAPTER_NAMES, type AdapterName, parseOnly } from "../../adapters.ts";
import { addinAdapter } from "../../addin/addinAdapter.ts";
import type { CommandCall, CommandSpec, OptionSpec } from "../../cli/commandTypes.ts";
import type { Io } from "../../cli/cliIo.ts";
import { inOurPlace, isFollowed } from "../../cli/foregroundProgram.ts";
import { CONFIG_OPTIONS, configurationOf, optionsOf } from "../connection/configuration.ts";
import { requireDescriptors } from "../../cli/descriptors.ts";
import { inheritedDescriptors } from "../../serving/inheritedDescriptors.ts";
import { canStart, Restart } from "../../serving/restart.ts";
import { packageVersion } from "../../serving/version.ts";
import type { Daemon } from "./serve.ts";

const CHECK_OPTION: OptionSpec = {
  name: "check",
  type: "flag",
  description: "read the settings and the versions of the stored files, print that it can start, and start nothing",
};

export const serveCommand: CommandSpec = {
  name: "serve",
  summary: "run the daemon in the foreground",
  details: [
    "Starts only services that leave other programs' files alone. Two parts start only when asked for, with `tmuxwire " +
      "enable NAME` permanently or --with NAME once: the add-in's bridge (it creates a certificate authority) and the file " +
      "that tells the team's extension where the daemon is.",
    "Prints a line per listener on stdout and logs JSON lines on stderr. SIGTERM or SIGINT stops it within two seconds; " +
      "programs in panes keep running. A part that cannot start is reported in one line, with what to change, and the others " +
      "run; with --only, or if no part can start, the daemon exits with 1.",
  ],
  positionals: [],
  options: [
    {
      name: "only",
      type: "text",
      value: "NAMES",
      description: `serve only these of ${ADAPTER_NAMES.join(", ")}`,
      complete: ADAPTER_NAMES,
    },
    CHECK_OPTION,
    ...CONFIG_OPTIONS,
  ],
  examples: [
    { line: "tmuxwire serve", does: "native API, dashboard, team's routes, and Freshell when AUTH_TOKEN is set" },
    {
      line: "tmuxwire serve --with addin,team",
      does: "also the add-in's bridge and the file for the team's extension",
    },
    { line: "tmuxwire serve --only addin --http", does: "the add-in's bridge over plain http" },
  ],
  run: (call) =>
    serve(call, {
      only: parseOnly(call.options.text("only")),
      isEverything: call.options.text("only") === undefined,
      defaults: "service",
      isChecked: call.options.flag("check"),
    }),
};

export const addinCommand: CommandSpec = {
  name: "addin",
  summary: "run the add-in's bridge alone: `serve --only addin`",
  positionals: [],
  options: [CHECK_OPTION, ...optionsOf([addinAdapter])],
  examples: [
    { line: "tmuxwire addin", does: "on https://localhost:3341, with real shells" },
    { line: "TMUX_BRIDGE_MODE=stub tmuxwire addin", does: "in memory; nothing is run" },
  ],
  run: (call) =>
    serve(call, {
      only: new Set(["addin"]),
      isEverything: false,
      defaults: "service",
      isChecked: call.options.flag("check"),
    }),
};

/** EX_TEMPFAIL of sysexits.h: a failure, after which a service manager starts the service again. */
const START_AGAIN = 75;

const wholeEnvironment = (env: Io["env"]): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

interface ServeChoice {
  readonly only: ReadonlySet<AdapterName>;
  readonly isEverything: boolean;
  readonly defaults: ConfigInputs["defaults"];
  /** Nothing is started. */
  readonly isChecked: boolean;
}

/** Runs the daemon until it is told to stop. @throws AppError when it cannot start. */
export async function serve(
  { io, options }: CommandCall,
  { only, isEverything, defaults, isChecked }: ServeChoice,
): Promise<number> {
  const config = configurationOf(io, options, defaults);
  const log = createLog({ level: config.daemon.logLevel, write: (line) => io.err(line), nowUnixMs: Date.now });
  // Node prints the error to stderr and ends the process; the log must have it too.
  process.on("uncaughtExceptionMonitor", (error) => log.error("daemon.crashed", { error }));
  let starting: Promise<Daemon> | undefined;
  let handleStop: ((reason: StopReason) => void) | undefined;
  const args = process.argv.slice(2);
  const isActivated = inheritedDescriptors(io.env, process.pid).length > 0;
  const restart = new Restart({
    args,
    env: wholeEnvironment(io.env),
    socketPath: config.native.socketPath,
    isActivated,
    log,
    end: () => {
      if (stopRequest.signal.aborted) throw shuttingDown();
      handleStop?.("restart");
    },
  });
  const stopRequest = new AbortController();
  // Listen before anything is awaited: `Io` handles these signals instead of Node, so an earlier one would be lost.
  const ended = untilStopRequested({
    clock: systemClock,
    log,
    stop: async () => {
      stopRequest.abort();
      await (await starting)?.stop();
    },
    onStop: (handler) => {
      handleStop = handler;
      for (const signal of STOP_SIGNALS) process.on(signal, handler);
      // Whoever kills the parent means the daemon.
      if (isFollowed(io.env)) process.once("disconnect", () => handler("SIGTERM"));
      return () => STOP_SIGNALS.forEach((signal) => process.off(signal, handler));
    },
  });
  requireDescriptors();
  // Loaded here: no other command needs the servers, and loading them would double its start-up time.
  const { NotServed, requireKnownFiles, startDaemon } = await import("./serve.ts");
  if (stopRequest.signal.aborted) return ended;
  if (isChecked) {
    requireKnownFiles({ env: io.env, only });
    await io.out(canStart(packageVersion()));
    return 0;
  }
  starting = startDaemon({
    config,
    only,
    isEverything,
    env: io.env,
    log,
    stopping: stopRequest.signal,
    restart,
    print: (line) => void io.out(`${line}\n`),
  });
  try {
    const exitCode = await Promise.race([starting.then(() => ended), ended]);
    const { successor } = restart;
    if (exitCode !== 0 || successor === undefined) return exitCode;
    if (isActivated) return START_AGAIN;
    const { node, script } = successor;
    return await inOurPlace(io, { program: node, args: [...process.execArgv, script, ...args], env: io.env });
  } catch (error) {
    if (!(error instanceof NotServed)) throw error;
    for (const line of error.lines) io.err(`tmuxwire: ${line}\n`);
    if (error.code === "INTERNAL_ERROR") log.error("daemon.part.failed", { error });
    return 1;
  }
}
