/** One other machine: requests to its daemon over the link. */
import type { Clock } from "../../daemon/time/clock.ts";
import { sleep, within } from "../../daemon/time/within.ts";
import type { NativeCheckedHost, NativeHost } from "../../protocol/api/native/nativeHosts.ts";
import {
  OPERATION_ROUTES,
  OWN_ONLY_HEADER,
  type OperationName,
  type OperationNames,
  type OperationRoute,
} from "../../protocol/api/operationRoutes.ts";
import { AppError, ERROR_SURFACES } from "../../protocol/errors.ts";
import { fieldsOf } from "../../protocol/text/jsonObject.ts";
import { HttpCaller, TmuxwireError } from "../client/clientHttp.ts";
import { runAndListen } from "../client/clientRun.ts";
import { OPERATIONS } from "../operations/operationTable.ts";
import type { Call } from "../operations/operation.ts";
import { unixFetch } from "../serving/unixFetch.ts";
import type { HostRecord } from "./hostBook.ts";
import type { HostLink, HostLinkState } from "./hostLink.ts";
import { nameOn, withNames } from "./hostNames.ts";

/** The connection to a machine's daemon. */
export type Link = Pick<HostLink, "state" | "check" | "subscribe" | "retry" | "close" | "forget"> & {
  connection(signal?: AbortSignal): Promise<LinkedDaemon>;
};

/** The unix socket that leads to it, and its token, a secret. */
interface LinkedDaemon {
  readonly socketPath: string;
  readonly host: { readonly token: string | undefined };
}

/** A machine that takes longer is not waited for by what asks all of them. */
export const ASKED_WITHIN_MS = 1_000;
/** As many responses as it may owe; it is asked for no more until it gives one. */
const MAX_OWED = 8;
/** A daemon that is only slow is left alone. */
const PROBED_WITHIN_MS = 5_000;
/** How long a call that may be repeated is, after its connection was lost. */
const REPEAT_WITHIN_MS = 60_000;
const REPEAT_AFTER_MS = 250;

export class RemoteHost {
  readonly record: HostRecord;
  readonly link: Link;
  readonly #clock: Clock;
  #http: { readonly socketPath: string; readonly token: string | undefined; readonly caller: HttpCaller } | undefined;
  #probing: Promise<void> | undefined;
  /** It still owes a response that was not waited for. */
  #isLate = false;
  /** How many of them. */
  #owed = 0;
  #isForgotten = false;

  constructor(record: HostRecord, link: Link, clock: Clock) {
    this.record = record;
    this.link = link;
    this.#clock = clock;
    // Connections to the socket of an earlier link end with it.
    link.subscribe(() => {
      if (link.state.kind !== "connected") this.#http = undefined;
    });
  }

  get name(): string {
    return this.record.name;
  }

  /** Waits for a connection that is being made. @throws AppError DAEMON_UNREACHABLE with `details.state`: nothing was sent */
  async #caller(signal?: AbortSignal): Promise<HttpCaller> {
    if (this.#isForgotten) throw new AppError("NOT_FOUND", `host ${JSON.stringify(this.name)} was removed`);
    const { socketPath, host } = await this.link.connection(signal);
    const { token } = host;
    if (this.#http?.socketPath !== socketPath || this.#http.token !== token) {
      // Machines that have each other as hosts would ask each other without end.
      const caller = new HttpCaller({
        url: "http://localhost",
        token,
        fetch: unixFetch(socketPath, { [OWN_ONLY_HEADER]: "1" }),
      });
      this.#http = { socketPath, token, caller };
    }
    return this.#http.caller;
  }

  /** A request. A daemon that has another token than the one that was found has done nothing: it is found anew, once. */
  async send<Result>(signal: AbortSignal | undefined, request: (http: HttpCaller) => Promise<Result>): Promise<Result> {
    try {
      return await request(await this.#caller(signal));
    } catch (error) {
      if (!(error instanceof TmuxwireError && error.code === "UNAUTHORIZED")) throw error;
      await this.probe();
      return request(await this.#caller(signal));
    }
  }

  close(): Promise<void> {
    return this.link.close();
  }

  /** It is served no longer: streams of it end. */
  async forget(): Promise<void> {
    this.#isForgotten = true;
    await this.link.forget();
  }

  /**
   * A connection to its daemon broke: where that daemon itself has ended, another is started there.
   * @returns once that is known
   */
  probe(): Promise<void> {
    return (this.#probing ??= this.link
      .check(AbortSignal.timeout(PROBED_WITHIN_MS))
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => (this.#probing = undefined)));
  }

  /**
   * Performs an operation there. A call that changes nothing, or is done once per key, is repeated when the connection is
   * lost; any other may have been done: `details.delivery` is `indeterminate`.
   * @throws AppError
   */
  async perform(name: OperationName, names: OperationNames, input: unknown, call: Call): Promise<object> {
    const { idempotent = false, output } = OPERATIONS[name];
    const idempotencyKey = idempotent ? (call.idempotencyKey ?? crypto.randomUUID()) : undefined;
    // What is typed once the host is back, nobody may want by then.
    const isAway = this.link.state.kind !== "connected";
    const signal = call.signal ?? (isAway ? call.whileWaiting?.() : undefined);
    let untilMs: number | undefined;
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next try follows the one before
        const sent = await this.send(signal, (http) =>
          this.#send(http, name, names, input, { ...call, idempotencyKey }),
        );
        return withNames(output, sent, (each) => nameOn(this.name, each)) as object;
      } catch (error) {
        signal?.throwIfAborted();
        // A status is a response: the daemon there says it of a host of its own.
        const isLost = error instanceof TmuxwireError && error.code === "DAEMON_UNREACHABLE" && error.status === 0;
        // What the daemon there says, or the reason why nothing was sent.
        if (!isLost && (untilMs === undefined || error instanceof TmuxwireError)) throw asAppError(error);
        const clock = this.#clock;
        untilMs ??= clock.nowMs() + REPEAT_WITHIN_MS;
        const probed = isLost ? this.probe() : undefined;
        if (this.#isForgotten || !mayRepeat(name) || clock.nowMs() >= untilMs)
          throw this.lost(isReading(name) ? undefined : "indeterminate");
        // oxlint-disable-next-line no-await-in-loop
        await probed;
        // oxlint-disable-next-line no-await-in-loop
        await sleep(clock, REPEAT_AFTER_MS, signal);
      }
    }
  }

  /** Undefined if it does not respond in time, or is not connected. One that is late is not waited for until it responds. */
  async ask(name: OperationName, input: unknown): Promise<object | undefined> {
    if (this.link.state.kind !== "connected" || this.#owed >= MAX_OWED) return undefined;
    const asked = this.perform(name, {}, input, {}).catch(() => undefined);
    const waitMs = this.#isLate ? 0 : ASKED_WITHIN_MS;
    const answer = await within<object | "late" | undefined>(this.#clock, waitMs, "late", (resolve) => {
      void asked.then(resolve);
    });
    if (answer !== "late") return answer;
    this.#isLate = true;
    this.#owed += 1;
    void asked.finally(() => {
      this.#isLate = false;
      this.#owed -= 1;
    });
    return undefined;
  }

  /** As it is now. */
  async check(): Promise<NativeCheckedHost> {
    const startMs = this.#clock.nowMs();
    const servers = listIn(await this.ask("listServers", {}), "servers");
    const roundTripMs = servers === undefined ? null : Math.round(this.#clock.nowMs() - startMs);
    const agents = listIn(await this.ask("listAgents", {}), "agents");
    return {
      ...this.describe(),
      roundTripMs,
      servers: servers?.length ?? null,
      agents: agents?.length ?? null,
    };
  }

  describe(): NativeHost {
    return describeHost(this.record, this.link.state);
  }

  /** @param delivery what is known of the request that was under way */
  lost(delivery?: "indeterminate"): AppError {
    return new AppError(
      "DAEMON_UNREACHABLE",
      `the connection to host ${JSON.stringify(this.name)} was lost; run \`tmuxwire hosts\``,
      {
        details: { host: this.name, ...(delivery === undefined ? {} : { delivery }) },
      },
    );
  }

  #send(http: HttpCaller, name: OperationName, names: OperationNames, input: unknown, call: Call): Promise<object> {
    const { signal, idempotencyKey, onOutput, onTyped } = call;
    if (name === "run" && onOutput !== undefined) {
      const { server = "", pane = "" } = names;
      return runAndListen(
        http,
        { server, pane },
        input as Parameters<typeof runAndListen>[2],
        { onOutput, onTyped },
        signal,
      );
    }
    return http.perform<object>(name, names, input as object, { signal, idempotencyKey });
  }
}

/** Undefined: it has not responded, or with something else. */
export function listIn(answer: object | undefined, member: string): readonly unknown[] | undefined {
  const list = fieldsOf(answer)?.[member];
  return Array.isArray(list) ? list : undefined;
}

export function describeHost(record: HostRecord, { kind, sinceUnixMs, message, found }: HostLinkState): NativeHost {
  const { name, destination, sshConfig = null, program = null, agentless = false } = record;
  return {
    name,
    destination,
    sshConfig,
    program,
    agentless,
    state: kind === "idle" ? "connecting" : kind,
    sinceUnixMs,
    why: kind === "connected" ? null : (message ?? "it is being connected"),
    version: found?.version ?? null,
    tmuxVersion: found?.tmux?.replace(/^tmux /, "") ?? null,
  };
}

function isReading(name: OperationName): boolean {
  const { method }: OperationRoute = OPERATION_ROUTES[name];
  return method === "GET";
}

/** Whether it does no more when it is sent twice. */
export const mayRepeat = (name: OperationName): boolean => isReading(name) || OPERATIONS[name].idempotent === true;

/** What the daemon there responded, as ours. A code that only a later version knows has no status here. */
export const asAppError = (error: unknown): unknown =>
  error instanceof TmuxwireError
    ? new AppError(Object.hasOwn(ERROR_SURFACES, error.code) ? error.code : "PROTOCOL_ERROR", error.message, {
        details: error.details,
        cause: error,
      })
    : error;
