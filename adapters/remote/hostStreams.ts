/**
 * The event streams of another machine, as server-sent events. When the link is lost they are continued where they were: the
 * positions are those of the daemon there, which declares what it no longer has.
 */
import type { Context } from "hono";
import type { Clock } from "../../daemon/time/clock.ts";
import { agentSchema } from "../../protocol/api/native/nativeAgents.ts";
import { toAppError } from "../../protocol/errors.ts";
import type { SseEvent } from "../../protocol/text/sse.ts";
import { SseFollower, SseLoss } from "../client/sseFollower.ts";
import { retryDelayMs } from "../client/clientEvents.ts";
import { type HttpCaller, isPassing, TmuxwireError } from "../client/clientHttp.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import { requestAbort } from "../kit/guard/requestAbort.ts";
import { eventResponse } from "../kit/streams/eventResponse.ts";
import { sseEvent } from "../kit/streams/sseWriter.ts";
import { nameOn, withNames } from "./hostNames.ts";
import { asAppError, type RemoteHost } from "./remoteHost.ts";

/** The daemon there sends something every 15 s. */
export const SILENCE_MS = 45_000;

interface HostStreamOptions extends Omit<Parameters<typeof eventResponse>[1], "read"> {
  readonly clock: Clock;
  /** Segments, as the daemon there calls them. */
  readonly path: readonly string[];
  readonly lastEventId: string | undefined;
}

/** What the daemon there refuses is an ordinary error response. @throws AppError */
export async function hostEventResponse(
  c: Context<GuardEnv>,
  host: RemoteHost,
  { path, lastEventId, ...options }: HostStreamOptions,
): Promise<Response> {
  const query = c.req.query();
  const open = async (after: string | undefined, signal: AbortSignal): Promise<Response> => {
    // Where to begin is said once; then it is where the last one ended.
    const { from: _from, after: _after, ...wishes } = query;
    return openThere(host, path, signal, after, after === undefined || after === lastEventId ? query : wishes);
  };
  const abort = new AbortController();
  const gone = requestAbort(c);
  gone.signal.addEventListener("abort", () => abort.abort(), { once: true });
  let first: Response | undefined = await open(lastEventId, abort.signal).catch((error: unknown) => {
    throw asAppError(error);
  });
  const follower = new SseFollower<SseEvent>({
    open: (after, signal) => {
      const begun = first;
      first = undefined;
      if (begun === undefined) return open(after, signal);
      signal.addEventListener("abort", () => abort.abort(), { once: true });
      return Promise.resolve(begun);
    },
    decode: (event) => {
      const passing = event.event === "closed" ? passingError(event.data) : undefined;
      if (passing !== undefined) throw passing;
      return event;
    },
    clock: options.clock,
    silenceMs: SILENCE_MS,
    steadyMs: 0,
    lastEventId,
    pauseMs: (loss, tries) => (isWorthRetrying(loss) ? retryDelayMs(tries) : undefined),
  });
  return eventResponse(c, {
    ...options,
    read: (out) => {
      let drained: (() => void) | undefined;
      const write = async ({ event, data, id }: SseEvent): Promise<void> => {
        if (out.room() <= 0) await new Promise<void>((resolve) => (drained = resolve));
        out.write(sseEvent(event, renamed(event, data, host.name), id === "" ? undefined : id));
      };
      void relay(follower, write).finally(() => out.end());
      return {
        pump: () => {
          if (out.room() > 0) drained?.();
        },
        close: () => {
          follower.close();
          abort.abort();
          drained?.();
        },
      };
    },
  });
}

async function relay(follower: SseFollower<SseEvent>, write: (event: SseEvent) => Promise<void>): Promise<void> {
  let isOpen = false;
  // A gap is sent with the snapshot that ends it, so that a new connection between the two does not declare it twice.
  let gap: SseEvent | undefined;
  try {
    for await (const event of follower.events()) {
      if (event.event === "gap") {
        gap = event;
        continue;
      }
      const isAgain = event.event === "open" && isOpen;
      if (gap !== undefined && !isAgain) await write(gap);
      gap = undefined;
      if (isAgain) continue;
      isOpen = true;
      await write(event);
      // The last one: another pane may have the name by now.
      if (event.event === "closed") return;
    }
  } catch (error) {
    // It was refused when it was asked for again: the pane or the server is gone.
    const { code, message } = toAppError(asAppError(error));
    await write({ event: "closed", data: JSON.stringify({ type: "closed", code, message }), id: "" });
  }
}

function passingError(data: string): TmuxwireError | undefined {
  const { code, message } = JSON.parse(data) as { readonly code: TmuxwireError["code"]; readonly message: string };
  return isPassing(code) ? new TmuxwireError(code, message) : undefined;
}

/** @throws AppError, TmuxwireError */
export async function openThere(
  host: RemoteHost,
  path: readonly string[],
  signal: AbortSignal,
  after?: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = { accept: "text/event-stream", ...(after === undefined ? {} : { "last-event-id": after }) };
  const open = (http: HttpCaller): Promise<Response> => http.open({ method: "GET", path, query, headers, signal });
  return host.send(signal, open).catch(async (error: unknown) => {
    if (error instanceof TmuxwireError && error.code === "DAEMON_UNREACHABLE") await host.probe();
    throw error;
  });
}

/** Whether another try may help: the link or the daemon there is gone, or that has lost its tmux. */
export const isWorthRetrying = (loss: unknown): boolean => {
  if (loss instanceof SseLoss) return true;
  const { code } = asAppError(loss) as { readonly code?: string };
  return code !== undefined && (isPassing(code) || code === "RESOURCE_LIMIT");
};

/** Its own names end in `@HOST` here. What is not JSON of ours may have line ends, and is one event here as it is there. */
function renamed(event: string, data: string, host: string): string {
  if (event !== "open" && event !== "reset" && !event.startsWith("agent-")) return data.replaceAll("\n", "\ndata: ");
  return JSON.stringify(renamedEvent(JSON.parse(data) as object, host));
}

export function renamedEvent(event: object, host: string): object {
  const change = (name: string): string => nameOn(host, name);
  const { server, agent, agents } = event as {
    readonly server?: string;
    readonly agent?: unknown;
    readonly agents?: readonly unknown[];
  };
  return {
    ...event,
    ...(server === undefined ? {} : { server: change(server) }),
    ...(agent === undefined ? {} : { agent: withNames(agentSchema, agent, change) }),
    ...(agents === undefined ? {} : { agents: agents.map((each) => withNames(agentSchema, each, change)) }),
  };
}
