/** The client by itself: what it needs at run time, how it reads events, what it makes of refusals. */
import { readFileSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createClient, TmuxwireError } from "../../../../adapters/client/client.ts";
import type { HttpCaller } from "../../../../adapters/client/clientHttp.ts";
import { runAndListen } from "../../../../adapters/client/clientRun.ts";
import { systemClock } from "../../../../daemon/time/clock.ts";
import type { SseEvent } from "../../../../protocol/text/sse.ts";
import { decodeBase64, retryDelayMs } from "../../../../adapters/client/clientEvents.ts";
import { SseFollower, SseLoss } from "../../../../adapters/client/sseFollower.ts";

const ROOT = new URL("../../../../", import.meta.url);

/** The modules a file loads at run time, transitively. */
function loaded(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  if (!path.startsWith(".") && !/^(?:adapters|protocol|daemon)\//.test(path)) return seen;
  const text = readFileSync(new URL(path, ROOT), "utf8");
  for (const [, clause = "", specifier = ""] of text.matchAll(/^(?:import|export) ([^;]*?)from "([^"]+)";/gms)) {
    const names =
      clause
        .match(/\{([^}]*)\}/)?.[1]
        ?.split(",")
        .map((name) => name.trim())
        .filter(Boolean) ?? [];
    if (clause.startsWith("type ") || (names.length > 0 && names.every((name) => name.startsWith("type ")))) continue;
    loaded(
      specifier.startsWith(".") ? new URL(specifier, new URL(path, ROOT)).href.slice(ROOT.href.length) : specifier,
      seen,
    );
  }
  return seen;
}

/** What the client and the player load of ours besides themselves. */
const SHARED = [
  "daemon/time/backOff.ts",
  "daemon/time/changes.ts",
  "daemon/time/clock.ts",
  "protocol/api/native/applyTreeEvent.ts",
  "protocol/api/native/nativeFrames.ts",
  "protocol/api/operationRoutes.ts",
  "protocol/errors.ts",
  "protocol/text/castReader.ts",
  "protocol/text/jsonObject.ts",
  "protocol/text/sse.ts",
  "protocol/text/textLines.ts",
];

test("loads nothing that a browser has not", () => {
  const modules = [...new Set(["client", "castPlayer"].flatMap((name) => [...loaded(`adapters/client/${name}.ts`)]))];
  const files = readdirSync(new URL("adapters/client", ROOT)).filter((name) => name.endsWith(".ts"));
  expect(modules.filter((path) => !path.startsWith("adapters/client/")).sort()).toEqual(SHARED);
  expect(modules).toHaveLength(files.length + SHARED.length);
});

const bodyOf = (...chunks: string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });

/** One connection: its end is the end, a loss is thrown. */
const followed = (body: ReadableStream<Uint8Array>, silenceMs: number) => {
  const follower: SseFollower<SseEvent> = new SseFollower<SseEvent>({
    open: async () => new Response(body),
    decode: (event) => event,
    clock: systemClock,
    silenceMs,
    steadyMs: 0,
    pauseMs: (loss) => {
      if (!(loss instanceof SseLoss) || loss.reason !== "ended") return undefined;
      follower.close();
      return 0;
    },
  });
  return follower;
};

async function eventsOf(...chunks: string[]) {
  const events: SseEvent[] = [];
  for await (const event of followed(bodyOf(...chunks), 1_000).events()) events.push(event);
  return events;
}

describe("events", () => {
  test("are the same however the body is cut; comments and what was cut off are none", async () => {
    const text =
      ':\n\nid: e:1\nevent: output\ndata: YQ==\n\nevent: gap\ndata: {"a":"é"}\n\nid: e:2\nevent: output\ndata: Yg';
    const wanted = [
      { event: "output", data: "YQ==", id: "e:1" },
      { event: "gap", data: '{"a":"é"}', id: "" },
    ];
    for (let cut = 0; cut < text.length; cut += 1) {
      expect(await eventsOf(text.slice(0, cut), text.slice(cut))).toEqual(wanted);
    }
  });

  test("a body that goes silent is an error", async () => {
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    await expect(followed(silent, 20).events().next()).rejects.toThrow("sent nothing");
  });
});

describe("errors", () => {
  const answering = (status: number, body: string) =>
    createClient({ url: "http://x/", token: "t", fetch: () => Promise.resolve(new Response(body, { status })) });

  test.each([
    [404, '{"error":{"code":"NOT_FOUND","message":"gone","details":{"a":1}}}', "NOT_FOUND"],
    [200, '{"error":{"code":"TIMEOUT","message":"late"}}', "TIMEOUT"],
    [403, "forbidden", "FORBIDDEN"],
    [401, "", "UNAUTHORIZED"],
    [502, "<html>", "INTERNAL_ERROR"],
  ])("%i %s", async (status, body, code) => {
    const error = await answering(status, body)
      .servers()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TmuxwireError);
    expect(error).toMatchObject({ code, status });
  });

  test("no daemon is DAEMON_UNREACHABLE, an abort is the signal's reason", async () => {
    const client = createClient({ url: "http://x", fetch: () => Promise.reject(new TypeError("refused")) });
    await expect(client.servers()).rejects.toMatchObject({ code: "DAEMON_UNREACHABLE", status: 0 });
    const signal = AbortSignal.abort(new Error("mine"));
    await expect(client.servers({ signal })).rejects.toThrow("mine");
  });

  test("the token goes into the header and never into the URL", async () => {
    const calls: [string, RequestInit][] = [];
    const client = createClient({
      url: "http://x/",
      token: "secret",
      fetch: (input, init) => {
        calls.push([input as string, init ?? {}]);
        return Promise.resolve(new Response('{"lines":[]}'));
      },
    });
    await client.server("a/b").pane("%5").capture({ lines: 3, ansi: true });
    expect(calls[0]?.[0]).toBe("http://x/v1/servers/a%2Fb/panes/%255/capture?lines=3&ansi=true");
    expect(calls[0]?.[1].headers).toMatchObject({ authorization: "Bearer secret" });
  });
});

test("base64 and delays", () => {
  expect([...decodeBase64("AP8Q")]).toEqual([0, 255, 16]);
  for (let tries = 0; tries < 30; tries += 1) {
    const ms = retryDelayMs(tries);
    expect(ms).toBeGreaterThanOrEqual(Math.min(5_000, 50 * 2 ** tries) / 2);
    expect(ms).toBeLessThanOrEqual(5_000);
  }
});

describe("a run's lines", () => {
  const RESULT = { exitCode: 0 };
  const ran = async (...chunks: string[]) => {
    const output: string[] = [];
    const http = { open: async () => new Response(bodyOf(...chunks)) } as unknown as HttpCaller;
    const onOutput = (bytes: Uint8Array): void => void output.push(Buffer.from(bytes).toString());
    const place = { server: "main", pane: "%1" };
    const result = await runAndListen(http, place, { command: "true" }, { onOutput }, undefined).catch(
      (error: TmuxwireError) => error.code,
    );
    return { output, result };
  };

  test("come in any pieces, and between empty ones", async () => {
    const text = `{"typed":true}\n\n{"output":"${btoa("ab")}"}\n${JSON.stringify(RESULT)}\n`;
    for (const chunks of [[text], text.split(""), [text.slice(0, 30), text.slice(30)]]) {
      expect((await ran(...chunks)).result).toEqual(RESULT);
    }
  });

  test("that end before the result, or within it, are a lost connection", async () => {
    const lines = `{"typed":true}\n{"output":"aGk="}\n`;
    for (const cut of ["", '{"exitC']) {
      expect(await ran(lines, cut)).toEqual({ output: ["hi"], result: "DAEMON_UNREACHABLE" });
    }
  });
});
