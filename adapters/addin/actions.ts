/**
 * The six actions (docs/contracts/addin.md §3) over a `TmuxServer`. A session is looked up by its exact name before anything
 * is typed or killed; every operation on the server has the contract's time limit; nothing outlives the client's request.
 */
import { randomBytes } from "node:crypto";
import type { SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { Capture, CaptureOptions, InputPart } from "../../daemon/tmux/io.ts";
import { typedBytes } from "../../daemon/panes/input/typedBytes.ts";
import type { OutputSource } from "../../daemon/tmux/outputSource.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { sleep, untilAborted } from "../../daemon/time/within.ts";
import type {
  AddinCapture,
  AddinFailure,
  AddinInput,
  AddinMetadata,
  AddinRequest,
  AddinSuccess,
  AddinWait,
} from "../../protocol/api/addinMessages.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { AddinWaits, MatchOutcome } from "./addinWaits.ts";
import { sendAndMatch } from "./addinWaits.ts";

interface ActionContext {
  readonly server: TmuxServer;
  readonly waits: AddinWaits;
  readonly clock: Clock;
  readonly commandTimeoutMs: number;
}

/** The state of one active request. */
interface Call extends ActionContext {
  /** Ends the request early, when its client disconnects or a command takes too long. */
  readonly abort: AbortController;
  readonly startedMs: number;
}

interface ActionResult {
  readonly status: 200 | 408;
  readonly body: AddinSuccess | AddinFailure;
}

/** Auto names tried before giving up; with 32 random bits a second try is already unlikely. */
const AUTO_NAME_TRIES = 4;

const encoder = new TextEncoder();

export async function runAction(
  context: ActionContext,
  request: AddinRequest,
  abort: AbortController,
): Promise<ActionResult> {
  const call: Call = { ...context, abort, startedMs: context.clock.nowMs() };
  const { action } = request;
  switch (action) {
    case "list_sessions": {
      const names = call.server.sessions().map((session) => session.name);
      return success({ ok: true, action, sessions: names.sort() });
    }
    case "create_session": {
      const session = await createSession(call, request.session, request.cwd);
      return success({ ok: true, action, session: session.name });
    }
    case "kill_session": {
      const session = findSession(call.server, request.session);
      await onSession(request.session, () => command(call, () => call.server.killSession(session.id)));
      return success({ ok: true, action, session: session.name });
    }
    case "send_keys": {
      const target = findTarget(call.server, request.session);
      await send(call, target, request.input);
      return success({ ok: true, action, session: target.session.name });
    }
    case "capture_pane": {
      const target = findTarget(call.server, request.session);
      await sleep(call.clock, request.capture.waitMs, abort.signal);
      return captured(call, action, target, await capture(call, target, request.capture));
    }
    case "send_and_capture":
      return sendAndCapture(call, request);
  }
}

type SendAndCapture = Extract<AddinRequest, { action: "send_and_capture" }>;

/**
 * Send → `wait_ms` → `wait_for` or `timeout_ms` → capture. Without `wait_for`, the capture follows `wait_ms`, or the pane's
 * first output if `wait_ms` is 0. With `wait_for`, the pattern is searched in all output after the send and on the resulting
 * screen, including output during `wait_ms`, and `timeout_ms` starts when `wait_ms` is over. If the pattern matches only the
 * echo of the input, that is not an error; the response says so.
 */
async function sendAndCapture(call: Call, request: SendAndCapture): Promise<ActionResult> {
  const target = findTarget(call.server, request.session);
  const { action, wait } = request;
  if (wait === undefined) {
    await sendAndPause(call, request, target);
    return captured(call, action, target, await capture(call, target, request.capture));
  }
  const outcome = await sendAndWait(call, request, target, wait);
  const screen = await capture(call, target, request.capture);
  if (outcome.kind === "matched") return captured(call, action, target, screen, { matchedText: outcome.text });
  if (outcome.kind === "echo") return captured(call, action, target, screen, { matchedEcho: true });
  return {
    status: 408,
    body: {
      ok: false,
      error: `wait_for regex did not match before timeout (${wait.timeoutMs}ms).`,
      metadata: { ...metadataOf(call, screen), output: outputOf(screen) },
    },
  };
}

async function sendAndPause(call: Call, request: SendAndCapture, target: Target): Promise<void> {
  const source = await onSession(target.name, () => call.server.output(target.pane));
  const sentSeq = await send(call, target, request.input);
  const { waitMs } = request.capture;
  if (waitMs > 0) await sleep(call.clock, waitMs, call.abort.signal);
  else await firstOutput(call.clock, source, sentSeq, call.abort.signal);
}

async function sendAndWait(
  call: Call,
  request: SendAndCapture,
  target: Target,
  wait: AddinWait,
): Promise<MatchOutcome> {
  const { waitMs } = request.capture;
  const { server } = call;
  const isReal = server.status().kind !== "stub";
  const excludeEcho = isReal ? echoOf(request.input) : undefined;
  // The stub's screen is its output.
  const view = isReal ? { capture: (options: CaptureOptions) => server.capture(target.pane, options) } : undefined;
  // The match may come before the send is confirmed; the pause begins after both.
  let paused: Promise<void> = Promise.resolve();
  const outcome = await onSession(target.name, () =>
    sendAndMatch(
      call.waits,
      server.output(target.pane),
      {
        pattern: wait.pattern,
        timeoutMs: waitMs + wait.timeoutMs,
        excludeEcho,
        ...(isReal
          ? { pane: { server, id: target.pane, readiness: undefined }, sends: typedBytes(partsOf(request.input)) }
          : {}),
        screen: view,
        signal: call.abort.signal,
      },
      async (beforeWrite) => {
        const sent = send(call, target, request.input, beforeWrite);
        paused = sent.then(() => sleep(call.clock, waitMs, call.abort.signal));
        paused.catch(() => undefined);
        await sent;
      },
    ),
  );
  if (outcome.kind === "matched") await paused;
  return outcome;
}

/**
 * What a real pane echoes of an input, which is not the program's output: the text, and the newline if Enter follows at
 * once. The stub's line is not an echo but the simulated output itself.
 */
function echoOf({ text, keys }: AddinInput): Uint8Array | undefined {
  return text === undefined ? undefined : encoder.encode(keys[0] === "Enter" ? `${text}\r` : text);
}

async function createSession(call: Call, name: string | undefined, cwd: string | undefined): Promise<SessionInfo> {
  for (let tries = 1; ; tries++) {
    const asked = name ?? `pi-${randomBytes(4).toString("hex")}`;
    try {
      return await command(call, () => call.server.createSession({ name: asked, cwd }));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "ALREADY_EXISTS") throw error;
      if (name !== undefined || tries === AUTO_NAME_TRIES) throw alreadyExists(call.server, asked, error);
    }
  }
}

/** The message differs by mode (docs/contracts/addin.md §3). */
function alreadyExists(server: TmuxServer, name: string, cause: AppError): AppError {
  const message = server.status().kind === "stub" ? `Session already exists: ${name}` : `duplicate session: ${name}`;
  return new AppError("ALREADY_EXISTS", message, { cause });
}

/** Types text, then each key, as one job. Returns the position before its output. */
async function send(call: Call, target: Target, input: AddinInput, beforeWrite?: () => void): Promise<number> {
  const parts = partsOf(input);
  const receipt = await onSession(target.name, () =>
    command(call, (signal) => call.server.input(target.pane, parts, { signal, beforeWrite })),
  );
  return receipt.position.outputSeq;
}

function partsOf({ text, keys }: AddinInput): InputPart[] {
  const parts: InputPart[] = [];
  if (text !== undefined) parts.push({ kind: "text", bytes: encoder.encode(text) });
  if (keys.length > 0) parts.push({ kind: "keys", keys });
  return parts;
}

function capture(call: Call, target: Target, options: AddinCapture): Promise<Capture> {
  const { lines, joinWrapped } = options;
  return onSession(target.name, () =>
    command(call, (signal) => call.server.capture(target.pane, { lines, joinWrapped, signal })),
  );
}

/**
 * Settles with `run`. Rejects with COMMAND_TIMEOUT after `timeoutMs`, which aborts the whole request, or with the reason for
 * which the request was aborted. A command already sent to tmux cannot be withdrawn: only the wait for it ends.
 */
export function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  request: AbortController,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = request;
  return untilAborted<T>(signal, (resolve, reject) => {
    const timer = clock.callAt(clock.nowMs() + timeoutMs, () => {
      request.abort(new AppError("COMMAND_TIMEOUT", `tmux command timed out after ${timeoutMs}ms.`));
    });
    run(signal).then(resolve, reject);
    return () => timer.cancel();
  });
}

const command = <T>(call: Call, run: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  withDeadline(call.clock, call.commandTimeoutMs, call.abort, run);

const success = (body: AddinSuccess): ActionResult => ({ status: 200, body });

function captured(
  call: Call,
  action: "capture_pane" | "send_and_capture",
  target: Target,
  screen: Capture,
  matched: Pick<AddinMetadata, "matchedText" | "matchedEcho"> = {},
): ActionResult {
  return success({
    ok: true,
    action,
    session: target.session.name,
    output: outputOf(screen),
    metadata: { ...metadataOf(call, screen), ...matched },
  });
}

const outputOf = (screen: Capture): string => screen.lines.join("\n");

const metadataOf = (call: Call, screen: Capture): AddinMetadata => ({
  outputSeq: screen.position.outputSeq,
  epoch: screen.position.epoch,
  elapsedMs: Math.round(call.clock.nowMs() - call.startedMs),
});

/** Longest wait for a pane that prints nothing, such as a password prompt: as long as two subprocesses used to take. */
export const FIRST_OUTPUT_MS = 10;

/**
 * Waits for a pane's first output. A `send_and_capture` without `wait_for` captures as soon as the pane has printed anything
 * after the send, typically the echo, within a fraction of a millisecond; the bridge that ours replaces took longer than
 * that to start its capture, so its clients have always seen the echo.
 * Resolves when `source` has passed `fromSeq`, has ended, or after `FIRST_OUTPUT_MS`.
 */
export function firstOutput(clock: Clock, source: OutputSource, fromSeq: number, signal: AbortSignal): Promise<void> {
  if (source.outputSeq > fromSeq) return Promise.resolve();
  return untilAborted<void>(signal, (resolve) => {
    const timer = clock.callAt(clock.nowMs() + FIRST_OUTPUT_MS, resolve);
    const done = (): void => resolve();
    const unsubscribe = source.subscribe({ advanced: done, gap: done, exited: done, closed: done });
    return () => {
      timer.cancel();
      unsubscribe();
    };
  });
}

interface Target {
  /** The name the client used. */
  readonly name: string;
  readonly session: SessionInfo;
  readonly pane: PaneId;
}

const sessionNotFound = (name: string, cause?: unknown): AppError =>
  new AppError("NOT_FOUND", `Session not found: ${name}`, { cause });

/** @throws AppError NOT_FOUND */
function findSession(server: TmuxServer, name: string): SessionInfo {
  const session = server.findSession(name);
  if (session === undefined) throw sessionNotFound(name);
  return session;
}

/** The session of exactly this name, looked up before anything is typed or killed. @throws AppError NOT_FOUND */
function findTarget(server: TmuxServer, name: string): Target {
  const session = findSession(server, name);
  if (session.activePane === undefined) throw sessionNotFound(name);
  return { name, session, pane: session.activePane };
}

/** Runs work that needs the session. If the session ends meanwhile, the response is always the same. */
async function onSession<T>(name: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") throw sessionNotFound(name, error);
    throw error;
  }
}
