import { EventEmitter } from "node:events";
import type { HttpBindings } from "@hono/node-server";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../../daemon/time/clock.ts";
import { bodyBudget, parseJson, readBody } from "../../../../../adapters/kit/guard/body.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("parseJson", () => {
  test("bytes that are not UTF-8 are refused, not replaced", () => {
    expect(() => parseJson(new Uint8Array([0x22, 0xff, 0x22]))).toThrow("Invalid JSON body.");
  });
  test("a byte order mark and blanks around the value are no part of it", () => {
    expect(parseJson(bytes('\ufeff {"a":"é😀"} '))).toEqual({ a: "é😀" });
  });
});

describe("readBody", () => {
  function begun(headers: Readonly<Record<string, string>> = {}) {
    const incoming = Object.assign(new EventEmitter(), { headers, destroyed: false });
    const outgoing = new EventEmitter();
    const env = { incoming, outgoing } as unknown as HttpBindings;
    const body = readBody({ env, req: { path: "/x", raw: new Request("http://x") } }, 200_000, systemClock);
    return { incoming, outgoing, body };
  }
  /** A request whose body is complete when it is read. */
  function complete(size: number): Promise<Uint8Array> {
    const { incoming, body } = begun();
    incoming.emit("data", Buffer.alloc(size));
    incoming.emit("end");
    return body;
  }
  test("a body counts as soon as it is announced or comes, until its response has ended", async () => {
    const before = bodyBudget.heldBytes;
    const held = (): number => bodyBudget.heldBytes - before;
    const { incoming, outgoing, body } = begun({ "content-length": "700" });
    const seen = [held()];
    for (const size of [400, 600]) {
      incoming.emit("data", Buffer.alloc(size));
      seen.push(held());
    }
    incoming.emit("end");
    expect(await body).toHaveLength(1_000);
    seen.push(held());
    outgoing.emit("close");
    expect([...seen, held()]).toEqual([700, 700, 1_000, 1_000, 0]);
  });

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test("large bodies that are complete at once are given one per turn; small ones do not wait for them", async () => {
    const given: string[] = [];
    for (const [name, size] of [
      ["first", 100_000],
      ["second", 100_000],
      ["small", 10],
    ] as const) {
      void complete(size).then(() => given.push(name));
    }
    await Promise.resolve();
    await turn();
    expect(given).toEqual(["small", "first"]);
    await turn();
    expect(given).toEqual(["small", "first", "second"]);
  });
});
