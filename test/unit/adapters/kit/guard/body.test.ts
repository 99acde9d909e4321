import { EventEmitter } from "node:events";
import type { HttpBindings } from "@hono/node-server";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../../daemon/time/clock.ts";
import { parseJson, readBody } from "../../../../../adapters/kit/guard/body.ts";

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
  /** A request whose body is complete when it is read. */
  function complete(size: number): Promise<Uint8Array> {
    const incoming = Object.assign(new EventEmitter(), { headers: {}, destroyed: false });
    const env = { incoming, outgoing: new EventEmitter() } as unknown as HttpBindings;
    const body = readBody({ env, req: { path: "/x", raw: new Request("http://x") } }, 200_000, systemClock);
    incoming.emit("data", Buffer.alloc(size));
    incoming.emit("end");
    return body;
  }
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
