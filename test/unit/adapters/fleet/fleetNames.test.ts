/** What stands in subjects and headers: no name of anybody becomes more than a name. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type FleetMessage, fleetHeaders, fleetMessage, NO_CHAIN } from "../../../../adapters/fleet/fleetMessages.ts";
import {
  daemonSubject,
  hostStream,
  liveSubject,
  outSubject,
  STATE_STREAM,
  stateOf,
  stateSubject,
} from "../../../../adapters/fleet/fleetSubjects.ts";
import { callableOperations } from "../../../../adapters/fleet/fleetCalls.ts";
import { ByteBudget } from "../../../../adapters/fleet/panePublisher.ts";

/** As the server matches them: `*` is one word, `>` the rest. */
function matches(pattern: string, subject: string): boolean {
  const [want, have] = [pattern.split("."), subject.split(".")];
  return want.length === have.length && want.every((word, at) => word === "*" || word === have[at]);
}

const name = fc
  .string({ minLength: 1, maxLength: 40, unit: "binary" })
  .filter((text) => Buffer.from(text).toString() === text);

test("any name is one word of a subject, and is read back", () => {
  fc.assert(
    fc.property(name, name, (host, server) => {
      const subject = stateSubject(host, server, "tree");
      expect(subject).toMatch(/^[A-Za-z0-9_=.-]+$/);
      expect(subject.split(".")).toHaveLength(5);
      expect(stateOf(subject)).toEqual({ host, server, kind: "tree" });
      expect(stateOf(daemonSubject(host))).toEqual({ host });
      expect(matches(hostStream(host).subjects[0]!, outSubject({ host, server, pane: "%7" }))).toBe(true);
    }),
  );
});

test.each(["STATE", "state", "_STATE"])("a host named %s has a stream of its own", (host) => {
  expect(hostStream(host).name).not.toBe(STATE_STREAM.name);
  expect(hostStream("=53TATE").name).not.toBe(hostStream("STATE").name);
});

test.each(["state", "call", "out", "live", "alive", "*", ">", "a.b", "tmuxwire"])(
  "a server named %s gets into no other stream",
  (server) => {
    const out = outSubject({ host: "h", server, pane: "%1" });
    const all = [
      out,
      liveSubject({ host: "h", server, pane: "%1" }),
      stateSubject("h", server, "agents"),
      daemonSubject("h"),
    ];
    const kept = [hostStream("h").subjects, STATE_STREAM.subjects];
    expect(
      all.map((subject) => kept.map((patterns) => patterns.filter((one) => matches(one, subject)).length)),
    ).toEqual([
      [1, 0],
      [0, 0],
      [0, 1],
      [0, 1],
    ]);
  },
);

test("the patterns of the streams never meet", () => {
  // As long as one has a word at a place where the other has another one, no subject is in both.
  const apart = (a: string, b: string): boolean => {
    const [one, other] = [a.split("."), b.split(".")];
    return (
      one.length !== other.length || one.some((word, at) => word !== "*" && other[at] !== "*" && word !== other[at])
    );
  };
  for (const state of STATE_STREAM.subjects) expect(apart(hostStream("h").subjects[0]!, state)).toBe(true);
});

test.each(["", "%", "5", "%5.out", "%*", "work"])("%j is no pane over NATS", (pane) => {
  expect(() => outSubject({ host: "h", server: "s", pane })).toThrow(/named by its id/);
});

test("a message is read back from its headers, whatever its event says; headers are lines of ASCII", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.uint8Array({ maxLength: 300 }), fc.nat(), (text, bytes, seq) => {
      const message: FleetMessage = {
        kind: "closed",
        position: { epoch: "k3Jd9", outputSeq: seq },
        cols: 80,
        rows: 24,
        data: { message: text },
        bytes,
        isPart: false,
        chain: { ...NO_CHAIN, snapshot: seq },
        origin: "abc/1",
        tmux: "1.2",
      };
      const headers = new Map(fleetHeaders(message));
      for (const value of headers.values()) expect(value).toMatch(/^[\x20-\x7e]*$/);
      const read = fleetMessage((header) => headers.get(header) ?? "", bytes);
      expect({ ...read, data: JSON.stringify(read?.data) }).toEqual({ ...message, data: JSON.stringify(message.data) });
    }),
  );
});

test.each([
  ["Tmuxwire-Kind", "boom"],
  ["Tmuxwire-Position", "x"],
  ["Tmuxwire-Length", "4"],
  ["Tmuxwire-Size", "80"],
  ["Tmuxwire-Chain", "1,2"],
  ["Tmuxwire-Data", "{"],
  ["Tmuxwire-Data", "7"],
])("with %s %s it is none of ours", (header, value) => {
  const message: FleetMessage = {
    kind: "gap",
    position: { epoch: "e", outputSeq: 5 },
    cols: 80,
    rows: 24,
    data: { from: "e:1" },
    bytes: new Uint8Array(3),
    isPart: false,
    chain: NO_CHAIN,
    origin: "",
    tmux: "",
  };
  const headers = new Map(fleetHeaders(message));
  expect(fleetMessage((one) => headers.get(one) ?? "", message.bytes)).toEqual(message);
  headers.set(header, value);
  expect(fleetMessage((one) => headers.get(one) ?? "", message.bytes)).toBeUndefined();
});

test("which operations may be called", () => {
  expect(callableOperations([])).toEqual(new Set());
  expect(callableOperations(["input", "capture"])).toEqual(new Set(["input", "capture"]));
  expect(callableOperations(["all"]).has("input")).toBe(true);
  // Of the daemon as a whole, its recordings, hosts and channels.
  for (const other of ["listServers", "addHost", "startAgent"])
    expect([...callableOperations(["all"])]).not.toContain(other);
  expect(() => callableOperations(["addHost"])).toThrow(/cannot be called over NATS/);
  expect(() => callableOperations(["typo"])).toThrow(/there is no operation/);
});

test("the bytes of all panes have one bound, and who waits comes in turn", () => {
  const budget = new ByteBudget(100);
  const order: string[] = [];
  budget.take(100);
  for (const who of ["a", "b", "c"]) {
    const go = (): void => {
      order.push(who);
      budget.take(60);
    };
    budget.wait(go);
  }
  budget.wait(() => order.push("gone"))();
  budget.release(50);
  expect(order).toEqual(["a"]);
  expect(budget.left).toBe(-10);
  budget.release(60);
  expect(order).toEqual(["a", "b"]);
  budget.release(160);
  expect(order).toEqual(["a", "b", "c"]);
});
