/**
 * The daemon: joins the parts and keeps them until it is told to stop. A part that cannot start is told in one line, and
 * the others run, unless they were asked for by name. Within a part starting is in the order in which things can fail for
 * a reason a person can mend: tmux, certificate, port. Stopping is bounded and answers whatever is under way
 * (`OpenParts`); programs in panes go on.
 */
import { systemClock } from "../../daemon/time/clock.ts";
import { createReadiness } from "../../daemon/readiness/engine.ts";
import { WaitManager } from "../../daemon/waits/waitManager.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import type { AdapterName } from "./adapterNames.ts";
import { oneLine } from "./failure.ts";
import { startAddin } from "./serveAddin.ts";
import { startDashboard } from "./serveDashboard.ts";
import { requireNoOther, startNative } from "./serveNative.ts";
import type { ServeOptions, StartContext } from "./serveParts.ts";
import { Guests, OpenParts, openDelivery, openProfiles } from "./serveParts.ts";

export interface Daemon {
  /** Safe to call twice. */
  stop(): Promise<void>;
}

interface Part {
  /** As people are told of it. */
  readonly name: string;
  /** What of `--only` it serves. */
  readonly adapters: readonly AdapterName[];
  readonly start: (context: StartContext) => Promise<void>;
}

/** In the order of their start-up lines. */
const PARTS: readonly Part[] = [
  { name: "the add-in's bridge", adapters: ["addin"], start: startAddin },
  { name: "the native API", adapters: ["native", "team"], start: startNative },
  { name: "the dashboard", adapters: ["dashboard"], start: startDashboard },
];

interface Failure {
  readonly part: Part;
  readonly error: AppError;
}

/** @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE: nothing is left running then. */
export async function startDaemon(options: ServeOptions): Promise<Daemon> {
  const { log, only } = options;
  const open = new OpenParts(log);
  let stopping: Promise<void> | undefined;
  try {
    const onListenerError = (error: unknown): void => log.error("wait.listener.failed", { error });
    const waits = new WaitManager({ clock: systemClock, onListenerError });
    open.surfaces.push(() => waits.close());
    openProfiles(options);
    const readiness = createReadiness({
      clock: systemClock,
      nowUnixMs: Date.now,
      onError: (error) => log.error("readiness.failed", { error }),
    });
    open.rest.push(() => readiness.close());
    const delivery = openDelivery(options, readiness);
    open.surfaces.push(() => delivery.stop());
    open.rest.push(() => delivery.close());
    const guests = new Guests(options, open);
    const parts = PARTS.filter(({ adapters }) => adapters.some((adapter) => only.has(adapter)));
    await startParts(parts, { ...options, waits, readiness, delivery, guests, open });
  } catch (error) {
    await open.close();
    throw error;
  }
  return { stop: () => (stopping ??= open.close()) };
}

/** @throws AppError when none starts, or one of those that were asked for by name. */
async function startParts(parts: readonly Part[], context: StartContext): Promise<void> {
  const { isEverything, log, print, stopping } = context;
  const isNative = ({ start }: Part): boolean => start === startNative;
  // Before anything is started: the usual reason for a start that fails is a daemon that is running.
  const other = parts.some(isNative) ? await failureOf(() => requireNoOther(context)) : undefined;
  const failures: Failure[] = [];
  for (const part of parts) {
    if (stopping.aborted) return;
    const error = other !== undefined && isNative(part) ? other : await failureOf(() => startPart(part, context));
    if (error === undefined) continue;
    if (!isEverything) throw error;
    failures.push({ part, error });
  }
  if (failures.length === parts.length) throw noneStarts(failures);
  for (const { part, error } of failures) {
    log.error("daemon.part.failed", { part: part.adapters.join(","), error });
    print(`${part.name} is not served: ${oneLine(error.message)}`);
  }
}

/** What a part has opened is closed with it when it fails, and else with the rest. */
async function startPart(part: Part, context: StartContext): Promise<void> {
  const open = new OpenParts(context.log);
  try {
    await part.start({ ...context, open });
  } catch (error) {
    await open.close();
    throw error;
  }
  context.open.take(open);
}

async function failureOf(start: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await start();
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

/** What is wrong with all of them once, else each with its name. */
function noneStarts(failures: readonly Failure[]): AppError {
  const messages = new Set(failures.map(({ error }) => error.message));
  const [first] = failures;
  if (first === undefined || messages.size === 1) return first?.error ?? new AppError("INTERNAL_ERROR", "no parts");
  const all = failures.map(({ part, error }) => `${part.name}: ${error.message}`).join("; ");
  return new AppError(first.error.code, `nothing can be served: ${all}`, { cause: first.error });
}
