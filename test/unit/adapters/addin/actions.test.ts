/** What the contract rows cannot show on a backend that works: servers that are slow, full, or losing a race. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AddinWaits } from "../../../../adapters/addin/addinWaits.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";
import type { WaitRequest } from "../../../../daemon/waits/waitRequest.ts";
import { type AddinClient, inProcess } from "../../../support/daemon/addinClient.ts";
import { addinApp } from "../../../support/daemon/backends.ts";
import { AppError } from "../../../../protocol/errors.ts";

let server: StubServer;
let client: AddinClient;

beforeEach(() => {
  server = new StubServer({ nowUnixMs: () => 0, onListenerError: () => undefined });
  client = inProcess(addinApp(server, { commandTimeoutMs: 20 }));
});

afterEach(() => server.close());

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
const session = "s";
const timedOut = { status: 504, json: { ok: false, error: "tmux command timed out after 20ms." } };

describe("an operation that tmux does not reply to → 504", () => {
  test("create_session", async () => {
    server.createSession = () => never();
    expect(await client.tmux({ action: "create_session" })).toMatchObject(timedOut);
  });
  test.each([
    ["kill_session", "killSession"],
    ["send_keys", "input"],
    ["capture_pane", "capture"],
    ["send_and_capture", "input"],
    ["send_and_capture", "capture"],
  ] as const)("%s, in %s", async (action, method) => {
    await client.tmux({ action: "create_session", session });
    server[method] = () => never<never>();
    expect(await client.tmux({ action, session, text: "x" })).toMatchObject(timedOut);
  });
});

describe("a session that goes between the look and the act → 404 in the client's words", () => {
  test.each([
    ["kill_session", "killSession"],
    ["send_keys", "input"],
    ["capture_pane", "capture"],
    ["send_and_capture", "output"],
  ] as const)("%s, in %s", async (action, method) => {
    await client.tmux({ action: "create_session", session });
    server[method] = () => {
      throw new AppError("NOT_FOUND", "no pane %0");
    };
    expect(await client.tmux({ action, session, text: "x" })).toMatchObject({
      status: 404,
      json: { error: "Session not found: s" },
    });
  });
});

test("an auto name that is taken is drawn again, a few times", async () => {
  const drawn: string[] = [];
  const create = server.createSession.bind(server);
  server.createSession = (request) => {
    drawn.push(request.name);
    if (drawn.length < 3) return Promise.reject(new AppError("ALREADY_EXISTS", "taken"));
    return create(request);
  };
  expect((await client.tmux({ action: "create_session" })).json["session"]).toBe(drawn[2]);
  expect(new Set(drawn).size).toBe(3);
  server.createSession = () => Promise.reject(new AppError("ALREADY_EXISTS", "taken"));
  expect((await client.tmux({ action: "create_session" })).status).toBe(409);
});

test("a real server's duplicate is said as tmux says it", async () => {
  const status = server.status();
  server.status = () => ({ ...status, kind: "owned" });
  server.createSession = () => Promise.reject(new AppError("ALREADY_EXISTS", "whatever it says"));
  expect((await client.tmux({ action: "create_session", session })).json["error"]).toBe("duplicate session: s");
});

describe("waits", () => {
  /** Notes what it is asked and responds after the send. */
  const noting = (asked: WaitRequest[]): AddinWaits => ({
    checkPattern: async () => undefined,
    sendAndWait: async (_source, request, send) => {
      asked.push(request);
      await send(() => undefined);
      const position = { epoch: "e", outputSeq: 0 };
      return { matched: [{ predicate: "pattern", text: "m" }], position, elapsedMs: 0, gaps: [] };
    },
  });
  const request = { action: "send_and_capture", session, text: "tëxt", wait_for: "m", wait_ms: 5, timeout_ms: 100 };

  test("the stub's own line counts; the time is wait_ms and timeout_ms together", async () => {
    const asked: WaitRequest[] = [];
    client = inProcess(addinApp(server, {}, noting(asked)));
    await client.tmux({ action: "create_session", session });
    expect((await client.tmux(request)).status).toBe(200);
    expect(asked).toMatchObject([{ pattern: { kind: "literal", text: "m" }, timeoutMs: 105, excludeEcho: undefined }]);
  });

  test("A6 on a real pane the typed bytes are excluded", async () => {
    const asked: WaitRequest[] = [];
    client = inProcess(addinApp(server, {}, noting(asked)));
    await client.tmux({ action: "create_session", session });
    const status = server.status();
    server.status = () => ({ ...status, kind: "owned" });
    await client.tmux(request);
    await client.tmux({ ...request, enter: true });
    await client.tmux({ ...request, keys: ["Tab"], enter: true });
    const typed = asked.map(({ excludeEcho }) => new TextDecoder().decode(excludeEcho));
    expect(typed).toEqual(["tëxt", "tëxt\r", "tëxt"]);
  });

  test("a failed send is the response, not a timeout", async () => {
    client = inProcess(addinApp(server, {}, noting([])));
    await client.tmux({ action: "create_session", session });
    server.input = () => Promise.reject(new AppError("RESOURCE_LIMIT", "too many inputs wait"));
    expect(await client.tmux(request)).toMatchObject({ status: 429, json: { error: "too many inputs wait" } });
  });
});
