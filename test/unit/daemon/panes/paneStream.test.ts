import { describe, expect, test } from "vitest";
import type { OutputListener } from "../../../../daemon/tmux/outputSource.ts";
import { PaneStream } from "../../../../daemon/panes/paneStream.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { turn } from "../../../support/tmux/fakeTransport.ts";

interface Fixture {
  readonly stream: PaneStream;
  readonly seen: string[];
  readonly thrown: unknown[];
  readonly listener: (name: string) => OutputListener;
}

function fixture(): Fixture {
  const seen: string[] = [];
  const thrown: unknown[] = [];
  return {
    seen,
    thrown,
    stream: new PaneStream({
      id: "%5",
      epoch: "e1",
      retainBytes: 1_000,
      onListenerError: (error) => thrown.push(error),
    }),
    listener: (name) => ({
      advanced: (from, to) => seen.push(`${name} ${from}-${to}`),
      gap: ({ from, to, reason }) => seen.push(`${name} gap ${from}-${to} ${reason}`),
      exited: ({ exitCode }) => seen.push(`${name} exited ${exitCode}`),
      closed: ({ code }) => seen.push(`${name} closed ${code}`),
    }),
  };
}

const gone = new AppError("NOT_FOUND", "gone");

describe("PaneStream", () => {
  test("takes in what tmux escaped, and says how much it was", () => {
    const { stream } = fixture();
    const line = Buffer.from("%output %5 a\\015\\012\\134");
    expect(stream.takeEscaped(line, 11, line.length)).toBe(4);
    expect(stream.outputSeq).toBe(4);
    expect(stream.read(0)).toEqual({ kind: "bytes", from: 0, to: 4, bytes: new Uint8Array(Buffer.from("a\r\n\\")) });
  });

  test("tells of several chunks once, and of nothing never", () => {
    const { stream, seen, listener } = fixture();
    stream.subscribe(listener("a"));
    stream.announce();
    stream.take(Buffer.from("one"));
    stream.take(Buffer.from("two"));
    expect(seen).toEqual([]);
    stream.announce();
    stream.announce();
    expect(seen).toEqual(["a 0-6"]);
  });

  test("a hole comes after what was before it", () => {
    const { stream, seen, listener } = fixture();
    stream.subscribe(listener("a"));
    stream.take(Buffer.from("one"));
    stream.declareHole("paused");
    stream.take(Buffer.from("two"));
    stream.announce();
    expect(seen).toEqual(["a 0-3", "a gap 3-4 paused", "a 4-7"]);
  });

  test("an exit comes after the output, once, and leaves the stream readable", () => {
    const { stream, seen, listener } = fixture();
    stream.subscribe(listener("a"));
    stream.take(Buffer.from("bye"));
    stream.declareExit({ exitCode: 3 });
    stream.declareExit({ exitCode: 4 });
    expect(seen).toEqual(["a 0-3", "a exited 3"]);
    expect(stream.exit).toEqual({ exitCode: 3 });
    expect(stream.read(0).kind).toBe("bytes");
  });

  test("closing tells everyone once; who comes later is told too, after the turn", async () => {
    const { stream, seen, listener } = fixture();
    stream.subscribe(listener("a"));
    stream.take(Buffer.from("bye"));
    stream.close(gone);
    stream.close(new AppError("CONNECTION_LOST", "too late"));
    expect(seen).toEqual(["a 0-3", "a closed NOT_FOUND"]);
    stream.subscribe(listener("b"));
    expect(seen).toHaveLength(2);
    await turn();
    expect(seen.slice(2)).toEqual(["b closed NOT_FOUND"]);
  });

  test("a listener that throws is reported and harms nobody", () => {
    const { stream, seen, thrown, listener } = fixture();
    const bug = new Error("bug");
    const fail = (): never => {
      throw bug;
    };
    stream.subscribe({ advanced: fail, gap: fail, exited: fail, closed: fail });
    stream.subscribe(listener("b"));
    stream.take(Buffer.from("x"));
    stream.declareHole("paused");
    stream.declareExit({ exitCode: 0 });
    stream.close(gone);
    expect(thrown).toEqual([bug, bug, bug, bug]);
    expect(seen).toEqual(["b 0-1", "b gap 1-2 paused", "b exited 0", "b closed NOT_FOUND"]);
  });

  test("listeners may come and go while they are told", () => {
    const { stream, seen, listener } = fixture();
    const leave = stream.subscribe({
      ...listener("a"),
      advanced: (from, to) => {
        seen.push(`a ${from}-${to}`);
        leave();
        leave();
        stream.subscribe(listener("late"));
      },
    });
    stream.subscribe(listener("b"));
    stream.take(Buffer.from("1"));
    stream.announce();
    expect(seen).toEqual(["a 0-1", "b 0-1"]);
    stream.take(Buffer.from("2"));
    stream.announce();
    expect(seen.slice(2)).toEqual(["b 1-2", "late 1-2"]);
  });
});
