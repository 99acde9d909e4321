/** From the start of `freshell` to its first byte on the wire, paired with a Node that does nothing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { builtFreshell } from "../support/daemon/cliBuild.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

const ROUNDS = 40;
const ANSWER = "[]";

test("the first byte is on the wire at most 60 ms after a Node that does nothing has ended", async () => {
  const home = mkdtempSync(join(tmpdir(), "tw-freshell-"));
  let heard = (): void => undefined;
  const server = createServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      heard();
      socket.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const env = {
    ...process.env,
    FRESHELL_HOME: home,
    FRESHELL_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    FRESHELL_TOKEN: "t".repeat(20),
  };
  const run = (args: readonly string[]) => spawn(process.execPath, args, { env, stdio: "ignore" });
  const [bare, first, whole]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    await once(run(["-e", "0"]), "close");
    bare?.push(performance.now() - started);
    const began = performance.now();
    const byte = new Promise<number>((resolve) => {
      heard = () => resolve(performance.now() - began);
    });
    const child = run([builtFreshell(), "list-terminals"]);
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(0);
    first?.push(await byte);
    whole?.push(performance.now() - began);
  }
  server.close();
  rmSync(home, { recursive: true, force: true });
  const [nothing, freshell] = [spread(bare ?? []), spread(first ?? [])];
  const overMs = Math.round((freshell.p50Ms - nothing.p50Ms) * 10) / 10;
  report("freshellStart", { rounds: ROUNDS, nothing, firstByte: freshell, whole: spread(whole ?? []), overMs });
  expect(overMs).toBeLessThan(60);
});
