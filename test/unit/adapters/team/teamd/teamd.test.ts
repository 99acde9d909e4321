/** teamd that misbehaves: each way is an error with the contract's name, and none hangs or leads elsewhere. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { requireLoopback, TeamdClient } from "../../../../../adapters/team/teamd/teamd.ts";

async function answering(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    client: new TeamdClient({ url, token: "s3cret", teamId: "t", agentId: "a" }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const body = (code: string): string => JSON.stringify({ error: { code, message: `no: ${code}` } });

const wrong: Record<string, readonly [RequestListener, name: string]> = {
  "an error of its own": [(_request, response) => response.writeHead(500).end(body("X")), "teamd_unavailable"],
  "another team's": [(_request, response) => response.writeHead(404).end(body("TEAM_NOT_FOUND")), "teamd_unavailable"],
  "no such thread": [(_request, response) => response.writeHead(404).end(body("THREAD_NOT_FOUND")), "thread_not_found"],
  "not allowed": [(_request, response) => response.writeHead(401).end(body("UNAUTHORIZED")), "teamd_unavailable"],
  "not JSON": [(_request, response) => response.end("<html>"), "teamd_unavailable"],
  "a redirect": [(_request, response) => response.writeHead(302, { location: "/x" }).end(), "teamd_unavailable"],
  "a broken connection": [(request) => request.socket.destroy(), "teamd_unavailable"],
  "an endless answer": [
    (_request, response) => {
      const more = (): boolean => response.write("x".repeat(65_536), () => !response.destroyed && more());
      more();
    },
    "teamd_unavailable",
  ],
};

test.each(Object.entries(wrong))("%s", async (_what, [listener, name]) => {
  await using teamd = await answering(listener);
  const calls = [teamd.client.requireThread("thread-1"), teamd.client.post("thread-1", "x")];
  for (const result of await Promise.allSettled(calls)) {
    expect(result).toMatchObject({ status: "rejected", reason: { details: { team: name } } });
    expect(JSON.stringify(result)).not.toContain("s3cret");
  }
});

test("a thread without an id is no thread, a permission that is not given is none", async () => {
  await using teamd = await answering((_request, response) => response.end("{}"));
  await expect(teamd.client.createThread("x")).rejects.toMatchObject({ details: { team: "teamd_unavailable" } });
  expect(await teamd.client.canWrite(".")).toEqual({ allow: false, reason: "denied" });
});

test("only this machine is spoken to", () => {
  for (const url of ["http://127.0.0.1:1", "http://localhost:1/", "http://[::1]:1"]) requireLoopback(url);
  for (const url of [
    "http://10.0.0.1",
    "https://127.0.0.1",
    "http://a:b@127.0.0.1",
    "http://localhost.evil.example",
    "",
    "x:",
  ]) {
    expect(() => requireLoopback(url)).toThrow(/teamd\.url must be/);
  }
});
