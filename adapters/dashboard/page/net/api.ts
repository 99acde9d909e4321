/** The dashboard's routes as functions. Every failure is a `Refused` with a message a person can act on. */
import type { NativeChannel } from "../../../../protocol/api/native/nativeNotifications.ts";
import type { DashboardScreens, DashboardTemplate, DashboardTemplates } from "../../../../protocol/api/dashboard.ts";
import { askServer, type ErrorShape, type Fetch, jsonOf, Refused } from "../../../pages/askServer.ts";
import type { AgentCard } from "../model/agentCard.ts";
import { fieldsOf, textOf } from "../../../../protocol/text/jsonObject.ts";

/** As many as the daemon gives at once. */
const TURNS = 200;
/** Of an error that came after the response had begun. */
const LATE_STATUS = 409;

export interface Answered {
  readonly body: unknown;
  /** The server's clock, to the second, if the response has it. */
  readonly serverUnixMs: number | undefined;
}

type PaneOwner = Pick<AgentCard, "agent_id" | "far" | "running">;

export type Api = ReturnType<typeof createApi>;

/**
 * For a daemon with a token, this page has a cookie.
 * @param stream a stream of events that takes none of the connections for requests; resolves with undefined without one
 */
export function createApi(fetch: Fetch, stream: (path: string, signal: AbortSignal) => Promise<Response | undefined>) {
  const ask = (path: string, init: RequestInit): Promise<Response> => askServer(fetch, path, init, SHAPE);
  const get = async (path: string, signal?: AbortSignal): Promise<Answered> =>
    answered(await ask(path, signal === undefined ? {} : { signal }));
  const post = async (path: string, body: unknown, key?: string, signal?: AbortSignal): Promise<Answered> => {
    const headers = new Headers({ "content-type": "application/json" });
    if (key !== undefined) headers.set("idempotency-key", key);
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return answered(await ask(path, signal === undefined ? init : { ...init, signal }));
  };
  return {
    /** Exchanges the token for a cookie. @throws Refused 401: wrong token */
    giveToken: async (token: string): Promise<void> => {
      // A header can hold nothing else, so a token has no other characters.
      if (!/^[\x20-\x7e]+$/.test(token))
        throw new Refused("A token has no characters but those of plain ASCII.", 401, "unauthorized");
      await ask("/api/token", { method: "POST", headers: { authorization: `Bearer ${token}` } });
    },
    agents: (signal: AbortSignal) => get("/api/agents", signal),
    respond: (agentId: number, body: unknown, idempotencyKey: string, signal: AbortSignal) =>
      post(`/api/respond/${agentId}`, body, idempotencyKey, signal),
    /** The agents whose screens show this text now, on this machine and on others. */
    screens: async (text: string, signal: AbortSignal) =>
      (await get(`/api/screens?text=${encodeURIComponent(text)}`, signal)).body as DashboardScreens,
    turns: (agentId: number, signal: AbortSignal) => get(`/api/agents/${agentId}/turns?limit=${TURNS}`, signal),
    /** An operation of the daemon's API. */
    operate: async (method: "POST" | "DELETE", path: string, body: object, key?: string, signal?: AbortSignal) => {
      const result =
        method === "POST" ? await post(path, body, key, signal) : await answered(await ask(path, { method }));
      // What is ready late has status 200, whatever it is.
      if (fieldsOf(fieldsOf(result.body)?.["error"]) === undefined) return result;
      const { message, code, details } = SHAPE.read(result.body, LATE_STATUS);
      throw new Refused(message, LATE_STATUS, code, { details });
    },
    type: ({ agent_id: agentId, far, running }: PaneOwner, input: string, signal: AbortSignal) =>
      far === undefined
        ? post(`/api/agents/${agentId}/input`, { text: input }, undefined, signal)
        : post(
            `${farPane(far.server, running?.id ?? "")}/input`,
            { parts: [{ kind: "text", text: input }] },
            undefined,
            signal,
          ),
    events: async (lastEventId: string | undefined, signal: AbortSignal): Promise<Response> => {
      const path = `/api/page/events${lastEventId === undefined ? "" : `?last_event_id=${encodeURIComponent(lastEventId)}`}`;
      // A request says why not, when it is refused.
      return (await stream(path, signal)) ?? ask(path, { signal });
    },
    pane: ({ agent_id: agentId, far, running }: PaneOwner, signal: AbortSignal): Promise<Response> =>
      far === undefined
        ? ask(`/api/agents/${agentId}/pane/stream`, { signal })
        : ask(`${farPane(far.server, running?.id ?? "")}/stream?from=snapshot`, { signal }),
    templates: async (signal: AbortSignal) => templatesIn(await get("/api/templates", signal)),
    /** All of them now. @param template under `replaces`, if it had a name before */
    saveTemplate: async (template: DashboardTemplate & { readonly replaces: string | undefined }) =>
      templatesIn(await post("/api/templates", template)),
    removeTemplate: async (name: string) => templatesIn(await post("/api/templates/remove", { name })),
    /** With which a browser subscribes to notifications. */
    pushKey: async () => ((await get("/api/push/key")).body as { readonly key: string }).key,
    /** What is done with this browser's channel; empty: it is added or changed. */
    push: async (what: "" | "show" | "test" | "remove", body: object) =>
      (await post(["/api/push", what].join(what && "/"), body)).body as NativeChannel,
    /** @param query of the operation's input */
    timeline: (query: string, signal: AbortSignal) => get(`/v1/timeline?${query}`, signal),
    recordings: (signal: AbortSignal) => get("/api/recordings", signal),
    /** As recorded so far. */
    recordingText: async (id: string, signal: AbortSignal) =>
      (await ask(`/api/recordings/${encodeURIComponent(id)}/file`, { signal })).text(),
  };
}

const templatesIn = ({ body }: Answered): readonly DashboardTemplate[] => (body as DashboardTemplates).templates;

/** Of an agent on another machine: named by the agent, so that it is no other program's. */
const farPane = (server: string, agent: string): string =>
  `/v1/servers/${encodeURIComponent(server)}/panes/${encodeURIComponent(agent)}`;

async function answered(response: Response): Promise<Answered> {
  const date = Date.parse(response.headers.get("date") ?? "");
  return {
    body: await jsonOf(response),
    serverUnixMs: Number.isNaN(date) ? undefined : date,
  };
}

/** `{error_type, message}` of the contract, `{error}` of its session routes, `{error: {…}}` of operations, or a response that is not the daemon's. */
const SHAPE: ErrorShape = {
  unreachable: "tmuxwire cannot be reached: is the daemon running?",
  read: (given, status) => {
    const body = fieldsOf(given);
    const error = fieldsOf(body?.["error"]);
    if (error !== undefined) {
      const [message, code] = [textOf(error["message"]), textOf(error["code"])];
      return { message: message ?? plainWords(status), code: code ?? "", details: fieldsOf(error["details"]) };
    }
    return {
      message: textOf(body?.["message"]) ?? textOf(body?.["error"]) ?? plainWords(status),
      // A reason says more than the type.
      code: textOf(body?.["reason"]) ?? textOf(body?.["error_type"]) ?? `http_${status}`,
      details: body,
    };
  },
};

function plainWords(status: number): string {
  if (status === 401) return "this dashboard needs a token";
  if (status === 403) return "this dashboard does not allow pages from this address";
  return `the server responded with ${status}`;
}
