/** F220 A server that is not there, is another program, or ends in the middle: one line, exit code 69, no stack. */
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Interrupted } from "../../../../adapters/cli/cliIo.ts";
import { deferred } from "../../../support/clock/deferred.ts";
import { FreshellFake, runFreshell } from "../../../support/freshell/freshellFake.ts";

let fake: FreshellFake;
beforeEach(async () => {
  fake = await FreshellFake.start();
});
afterEach(() => fake[Symbol.asyncDispose]());

const SEND = ["send-keys", "--target", "terminal:x", "a"];
const WAIT = ["wait-for", "--target", "terminal:x", "--exit"];

describe("no Freshell server", () => {
  /** What each of some commands says, without what is the same for all. */
  const refusals = async (url: string): Promise<readonly object[]> => {
    const env = { FRESHELL_URL: url, FRESHELL_TOKEN: "t".repeat(20) };
    const all = [];
    for (const args of [["health"], ["list-terminals"], SEND]) {
      const { code, out, err } = await runFreshell([...args, "--json"], { env, homeDir: fake.home });
      const { status, code: word, details } = JSON.parse(out) as Record<string, unknown>;
      const isClear =
        /^freshell: no Freshell server at http:.*; start one with `tmuxwire serve --only freshell`.*\n$/.test(err);
      all.push({ code, status, word, details, isClear, stack: err.includes("    at ") });
    }
    return all;
  };
  const refusal = (url: string): readonly object[] =>
    Array.from({ length: 3 }, () => ({
      code: 69,
      status: "error",
      word: "INTERNAL_ERROR",
      details: { cause: "DAEMON_UNREACHABLE", retry: true, url },
      isClear: true,
      stack: false,
    }));

  test("where nothing listens", async () => {
    const { url } = fake;
    await fake[Symbol.asyncDispose]();
    expect(await refusals(url)).toEqual(refusal(url));
  });

  test.each([
    ["a page", 200, "<!doctype html>", {}],
    ["JSON that is no object", 200, "7", {}],
    ["nothing", 204, "", {}],
    ["an error of another program's", 500, '{"message":"oops"}', {}],
    ["a redirection, which the token does not follow", 302, "{}", { location: "http://127.0.0.1:1/" }],
  ] as const)("where another program answers: %s", async (_name, status, text, headers) => {
    fake.answer = (_asked, response) => response.writeHead(status, headers).end(text);
    expect(await refusals(fake.url)).toEqual(refusal(fake.url));
  });

  test.each([
    "x",
    "ftp://127.0.0.1",
    "127.0.0.1:3001",
    "http://user:pass@h",
    "http://h/?a=1",
    "http://h/#x",
    "file:///etc/passwd",
  ])("FRESHELL_URL=%j", async (url) => {
    const { code, err } = await fake.run(["health"], { FRESHELL_URL: url });
    // Without one the default holds, and nothing is there.
    if (url === "") return expect([69, 0]).toContain(code);
    expect(code).toBe(2);
    expect(err).not.toContain("pass@");
  });

  test("a path before /api is kept", async () => {
    await fake.run(["list-terminals"], { FRESHELL_URL: `${fake.url}/behind/a/proxy/`, FRESHELL_TOKEN: "t" });
    expect(fake.asked[0]?.path).toBe("/behind/a/proxy/api/terminals");
  });
});

describe("a server that ends before it has responded", () => {
  /** Takes what is asked, and ends the connection behind `text`. */
  async function cutting(text: string): Promise<{ url: string; server: Server }> {
    const server = createServer((socket: Socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(text, () => socket.destroy()));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
  }

  test.each([
    "",
    "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n  ",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n \r\n",
  ])("behind %j: what changes something may have been done", async (text) => {
    const { url, server } = await cutting(text);
    const env = { FRESHELL_URL: url, FRESHELL_TOKEN: "t" };
    const sent = await runFreshell([...SEND, "--json"], { env, homeDir: fake.home });
    expect([sent.code, JSON.parse(sent.out)]).toMatchObject([
      69,
      { code: "INTERNAL_ERROR", details: { retry: false, delivery: "indeterminate" } },
    ]);
    expect(sent.err).toContain("check whether it was done");
    for (const line of ["list-terminals", "wait-for --target terminal:x --exit"]) {
      const read = await runFreshell([...line.split(" "), "--json"], { env, homeDir: fake.home });
      expect([read.code, JSON.parse(read.out)]).toMatchObject([69, { details: { retry: true } }]);
    }
    server.close();
  });
});

describe("F136 a long wait", () => {
  test("gets its response behind blanks", async () => {
    fake.answer = (_asked, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      for (const text of [" ", " ", '{"matched":[{"predicate":"exit"}],', '"outputSeq":1,"exitCode":0,"elapsedMs":1}'])
        response.write(text);
      response.end();
    };
    expect(await fake.run(WAIT)).toEqual({ code: 0, out: "exit: 0\n", err: "" });
  });

  test("has run what tells its response before that comes, with nothing to tell, and prints it once", async () => {
    const told: string[] = [];
    const answered = deferred<() => void>();
    fake.answer = (_asked, response) =>
      answered.resolve(() => response.end('{"matched":[{"predicate":"exit"}],"outputSeq":1,"elapsedMs":1}'));
    const rehearsed = deferred<undefined>();
    const io = {
      out: async (data: string | Uint8Array) => {
        told.push(String(data));
        rehearsed.resolve(undefined);
      },
    };
    const running = fake.run(WAIT, { FRESHELL_TOKEN: "t" }, io);
    // Not before something was written: without a rehearsal the response would be waited for, and this for it.
    await rehearsed.promise;
    expect(told).toEqual([""]);
    (await answered.promise)();
    expect([(await running).code, told]).toEqual([0, ["", "exit\n"]]);
  });

  test("fails behind blanks, with the status of a success", async () => {
    fake.answer = (_asked, response) =>
      response.end('  {"error":{"code":"TIMEOUT","message":"not within 1 s","details":{"predicates":{"exit":false}}}}');
    const { code, out } = await fake.run([...WAIT, "--json"]);
    expect([code, JSON.parse(out)]).toMatchObject([124, { code: "TIMEOUT", details: { predicates: { exit: false } } }]);
  });

  test("that is interrupted ends its connection, and says nothing", async () => {
    const controller = new AbortController();
    const gone = new Promise<void>((resolve) => {
      fake.answer = (_asked, response) => {
        response.writeHead(200).write(" ");
        response.once("close", resolve);
        controller.abort(new Interrupted(130, "interrupted"));
      };
    });
    const ended = await fake.run(WAIT, { FRESHELL_TOKEN: "t" }, { signal: controller.signal });
    expect(ended).toEqual({ code: 130, out: "", err: "" });
    await gone;
  });
});

test("text goes there and comes back as UTF-8", async () => {
  fake.answer = ({ body }, response) => response.end(JSON.stringify({ outputSeq: 1, got: body }));
  const typed = "ß 漢字 🙂 ; \" ' $ \\ \t\r";
  const { out } = await fake.run(["send-keys", "--target", "terminal:x", "--json", "-l", "--", typed]);
  expect(JSON.parse(out)).toMatchObject({ data: { got: { keys: [typed], literal: true } } });
});
