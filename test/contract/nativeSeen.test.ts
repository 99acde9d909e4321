/** The native API seen from outside: a name for each request, a line for each at `debug`, metrics of the process. */
import { describe, expect, test } from "vitest";
import { createLog } from "../../daemon/ops/log.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";

const TOKEN = "0123456789abcdef";
const AUTH = { authorization: `Bearer ${TOKEN}` };

async function seen(level: "debug" | "info" = "debug", token: string | null = TOKEN) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const log = createLog({ level, write, nowUnixMs: Date.now });
  const server = stubServer();
  await server.createSession({ name: "work" });
  const api = await nativeFixture(server, { log, token: token ?? undefined, version: "9.8.7" });
  return { api, lines, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

const PANES = "/v1/servers/main/panes";

describe("requests", () => {
  test("have an id in the response and a log line with operation, time and outcome", async () => {
    await using it = await seen();
    const ok = await it.api.call("GET", PANES, undefined, AUTH);
    const failed = await it.api.call("GET", `${PANES}/nothing`, undefined, AUTH);
    const [first, second] = [ok, failed].map(({ headers }) => headers.get("x-request-id") ?? "");
    expect(first).toMatch(/^[0-9a-f]{8}-\w+$/);
    expect(second).not.toBe(first);
    const done = it.lines.filter(({ event }) => event === "operation.done");
    expect(done).toEqual([
      expect.objectContaining({ level: "debug", request: first, operation: "listPanes", outcome: "ok" }),
      expect.objectContaining({ level: "debug", request: second, operation: "describePane", outcome: "NOT_FOUND" }),
    ]);
    for (const { ms } of done) expect(ms).toEqual(expect.any(Number));
  });

  test("keep the caller's id if it has safe characters only", async () => {
    await using it = await seen();
    const named = await it.api.call("GET", PANES, undefined, { ...AUTH, "x-request-id": "trace-17.a_b" });
    expect(named.headers.get("x-request-id")).toBe("trace-17.a_b");
    for (const odd of ["a b", "x".repeat(65), '{"level":"error"}']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { headers } = await it.api.call("GET", PANES, undefined, { ...AUTH, "x-request-id": odd });
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{8}-\w+$/);
    }
  });

  test("that are refused have an id as well", async () => {
    await using it = await seen();
    const { status, headers } = await it.api.call("GET", PANES);
    expect([status, headers.get("x-request-id")]).toEqual([401, expect.stringMatching(/^[0-9a-f]{8}-/)]);
    expect(it.lines).toEqual([
      expect.objectContaining({ event: "http.request.refused", request: headers.get("x-request-id"), status: 401 }),
    ]);
  });

  test("on a WebSocket have a line each", async () => {
    await using it = await seen("debug", null);
    await using socket = await RawSocket.open(it.api.port);
    socket.send({ type: "call", id: 1, operation: "listPanes", server: "main", input: {} });
    await socket.next();
    expect(it.lines.filter(({ event }) => event === "operation.done")).toEqual([
      expect.objectContaining({ operation: "listPanes", outcome: "ok", request: expect.any(String) as string }),
    ]);
  });

  test("are not logged at info", async () => {
    await using it = await seen("info");
    await it.api.call("GET", PANES, undefined, AUTH);
    expect(it.lines).toEqual([]);
  });
});

test("metrics of the process, and every name with the prefix of ours beside the contract's", async () => {
  await using it = await seen();
  const { text } = await it.api.call("GET", "/metrics", undefined, AUTH);
  const values = new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))] as const),
  );
  expect(values.get(`tmuxwire_build_info{version="9.8.7",node="${process.versions.node}"}`)).toBe(1);
  expect(values.get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
  expect(values.get("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(values.get("nodejs_heap_size_used_bytes")).toBeGreaterThan(1_000_000);
  expect(Math.abs((values.get("process_start_time_seconds") ?? 0) - Date.now() / 1_000)).toBeLessThan(86_400);
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
  const waits = names.filter((name) => name.startsWith("wait_"));
  expect(waits.length).toBeGreaterThan(10);
  expect(waits.filter((name) => !names.includes(`tmuxwire_${name}`))).toEqual([]);
  expect(names.filter((name) => !/^(?:tmuxwire|wait|process|nodejs)_/.test(name))).toEqual([]);
});
