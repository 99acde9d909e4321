/** A user with a daemon that serves Freshell, and the built command line logged in at it. */
import type { TerminalEntry } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { CliSandbox, Finished, Running } from "../daemon/cliSandbox.ts";
import { cliSandbox } from "../daemon/cliSandbox.ts";

export const AUTH_TOKEN = "a-token-of-the-tests-0123456789";

export interface FreshellScene extends AsyncDisposable {
  readonly sandbox: CliSandbox;
  readonly url: string;
  readonly daemon: Running;
  /** Runs `freshell`. */
  run(...args: readonly string[]): Promise<Finished>;
  start(...args: readonly string[]): Running;
  /** With `--json`: its data. @throws Error when it fails */
  data<Data>(...args: readonly string[]): Promise<Data>;
  /** With `--json`: its error and its exit code. @throws Error when it succeeds */
  refusal(...args: readonly string[]): Promise<Refusal>;
  /** A terminal with a shell at its prompt; its id. */
  terminal(options?: object): Promise<string>;
  /** tmux's own command on the terminal's pane, the pane's id last. */
  tmux(terminalId: string, ...args: readonly string[]): Promise<string>;
}

interface Refusal {
  readonly exitCode: number | null;
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export async function freshellScene(env: Readonly<Record<string, string>> = {}): Promise<FreshellScene> {
  const sandbox = cliSandbox();
  const daemon = sandbox.start(["serve", "--only", "freshell"], { env: { AUTH_TOKEN, PORT: "0", ...env } });
  const [, url = ""] = await daemon.line(/Freshell listening on (\S+)/);
  const options = { script: "freshell.js", env: { FRESHELL_URL: url } };
  const start = (...args: readonly string[]): Running => sandbox.start(args, options);
  const run = (...args: readonly string[]): Promise<Finished> => start(...args).finished;
  const token = { script: "freshell.js", env: { FRESHELL_URL: url, AUTH_TOKEN } };
  const login = await sandbox.run(["auth", "login"], token);
  if (login.code !== 0) throw new Error(login.stderr);

  const data = async <Data>(...args: readonly string[]): Promise<Data> => {
    const { code, stdout, stderr } = await run(...withJson(args));
    if (code !== 0 || stderr !== "") throw new Error(`${args.join(" ")}: ${stderr}`);
    const document = JSON.parse(stdout) as { status: "ok"; data: Data };
    return document.data;
  };

  return {
    sandbox,
    url,
    daemon,
    run,
    start,
    data,
    refusal: async (...args) => {
      const { code: exitCode, stdout, stderr } = await run(...withJson(args));
      const { status, code, message, details } = JSON.parse(stdout) as Refusal & { status: string };
      if (status !== "error" || !/^freshell: .*\n$/.test(stderr))
        throw new Error(`${args.join(" ")}: ${stdout}${stderr}`);
      return { exitCode, code, message, details };
    },
    terminal: async (terminalOptions = {}) => {
      const headers = { "x-auth-token": AUTH_TOKEN, "content-type": "application/json" };
      const response = await fetch(`${url}/api/terminals`, {
        method: "POST",
        headers,
        body: JSON.stringify(terminalOptions),
      });
      if (response.status !== 201) throw new Error(await response.text());
      const { terminalId } = (await response.json()) as TerminalEntry;
      await data("wait-for", "--target", `terminal:${terminalId}`, "--prompt", "--from", "tail:5");
      return terminalId;
    },
    tmux: async (terminalId, ...args) => {
      const terminals = await data<readonly TerminalEntry[]>("list-terminals");
      const pid = String(terminals.find((one) => one.terminalId === terminalId)?.pid);
      const socket = sandbox.path("run/tmuxwire/freshell.sock");
      const panes = sandbox.tmux(socket, "list-panes", "-a", "-F", "#{pane_pid} #{pane_id}").split("\n");
      const [, pane = ""] = panes.find((line) => line.startsWith(`${pid} `))?.split(" ") ?? [];
      return sandbox.tmux(socket, ...args, "-t", pane);
    },
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

/** In front of what somebody types. */
const withJson = ([command = "", ...rest]: readonly string[]): string[] => [command, "--json", ...rest];
