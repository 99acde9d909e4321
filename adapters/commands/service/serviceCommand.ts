/**
 * `tmuxwire service`: writes, removes or checks the files that let the system start the daemon. It enables and starts
 * nothing, because that changes what runs at login; it prints the commands for the user to run.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { removeUserFile, replaceUserFile, textAt } from "../../hooks/userFiles.ts";
import { JSON_OPTION, printResult } from "../../cli/jsonOutput.ts";
import { configurationOf } from "../connection/configuration.ts";
import type { ServiceFile, ServicePlan } from "./serviceUnits.ts";
import { servicePlan, UNIT_MARK } from "./serviceUnits.ts";
import { isListening } from "../../serving/socketProbe.ts";

const ACTIONS = ["install", "uninstall", "status"] as const;
type Action = (typeof ACTIONS)[number];

export const serviceCommand: CommandSpec = {
  name: "service",
  summary: "let systemd or launchd start the daemon",
  details: [
    "install writes systemd user units with socket activation (Linux) or a launchd agent (macOS) and prints the commands " +
      "that enable them; it enables nothing itself. status exits with 0 if the files are in place, else with 3.",
  ],
  positionals: [{ name: "ACTION", description: "what to do", choices: ACTIONS }],
  options: [
    { name: "print", type: "flag", description: "show the files, write and remove nothing" },
    { name: "force", type: "flag", description: "replace or remove files that tmuxwire did not write" },
    JSON_OPTION,
  ],
  examples: [
    { line: "tmuxwire service install --print", does: "show what would be written" },
    { line: "tmuxwire service install", does: "write it, and print how to enable it" },
    { line: "tmuxwire service status", does: "show whether it is installed and responds" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const plan = planOf(call);
    const action = call.positionals[0] as Action;
    if (call.options.flag("print")) return show(call, plan);
    switch (action) {
      case "install":
        return install(call, plan);
      case "uninstall":
        return uninstall(call, plan);
      case "status":
        return status(call, plan);
    }
  },
};

function planOf({ io, options }: CommandCall): ServicePlan {
  const { native } = configurationOf(io, options);
  const { platform, homeDir, env } = io;
  const { socketPath, host, port } = native;
  const [execPath, scriptPath] = [process.execPath, join(import.meta.dirname, "tmuxwire.js")];
  const plan = servicePlan({ platform, homeDir, env, execPath, scriptPath, socketPath, host, port });
  if (plan !== undefined) return plan;
  throw new AppError("CONFIGURATION_INVALID", `no supported service manager on ${platform}: run \`tmuxwire serve\``);
}

async function show(call: CommandCall, { files, start }: ServicePlan): Promise<number> {
  await printResult(call, { files, start }, files.map(({ path, text }) => `# ${path}\n${text}`).join("\n"));
  return 0;
}

async function install(call: CommandCall, plan: ServicePlan): Promise<number> {
  for (const { path, text } of plan.files) {
    requireOurs(path, call);
    replaceUserFile(path, text, 0o644);
  }
  await tell(call, { written: plan.files.map(({ path }) => path), run: plan.start }, "written:", "to start it, run:");
  return 0;
}

async function uninstall(call: CommandCall, plan: ServicePlan): Promise<number> {
  const paths = [...plan.files.map(({ path }) => path), ...plan.links].filter(isThere);
  for (const { path } of plan.files) requireOurs(path, call);
  for (const path of paths) removeUserFile(path);
  const run = paths.length === 0 ? [] : plan.stop;
  await tell(call, { removed: paths, run }, "removed:", "to stop the running daemon, run:");
  return 0;
}

async function status(call: CommandCall, plan: ServicePlan): Promise<number> {
  const files = plan.files.map((file) => ({ path: file.path, state: stateOf(file) }));
  const enabled = plan.links.some(isThere);
  const answering = await isListening(configurationOf(call.io, call.options).native.socketPath);
  const installed = files.every(({ state }) => state !== "missing");
  await printResult(call, { installed, enabled, answering, files }, [
    ...files.map(({ path, state }) => `${path}: ${STATE_TEXTS[state]}`),
    ...(plan.links.length === 0 ? [] : [`enabled: ${enabled ? "yes" : "no"}`]),
    `the native API responds: ${answering ? "yes" : "no"}`,
  ]);
  return installed ? 0 : NOT_INSTALLED;
}

/** The exit code of `systemctl status` for a missing or inactive unit. */
const NOT_INSTALLED = 3;

type FileState = "current" | "different" | "missing";
const STATE_TEXTS: Readonly<Record<FileState, string>> = {
  current: "installed",
  different: "installed, but different from what `tmuxwire service install` would write now",
  missing: "not installed",
};

function stateOf({ path, text }: ServiceFile): FileState {
  const there = textAt(path);
  return there === undefined ? "missing" : there === text ? "current" : "different";
}

function requireOurs(path: string, { options }: CommandCall): void {
  if (options.flag("force") || textAt(path)?.includes(UNIT_MARK) !== false) return;
  throw new AppError("ALREADY_EXISTS", `${path} was not written by tmuxwire: replace or remove it with --force`);
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

async function tell(
  call: CommandCall,
  report: Readonly<Record<string, readonly string[]>>,
  changed: string,
  next: string,
): Promise<void> {
  const [paths = [], commands = []] = Object.values(report);
  await printResult(call, report, [
    ...(paths.length === 0 ? ["nothing to do"] : [changed, ...paths.map((path) => `  ${path}`)]),
    ...(commands.length === 0 ? [] : ["", next, ...commands.map((command) => `  ${command}`)]),
  ]);
}
