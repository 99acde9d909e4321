/** Where a guest may be attached, and where it is best: decided from two listings of ids and numbers. */
import { expect, test } from "vitest";
import {
  chooseSession,
  decodePresence,
  decodeProbe,
  mayAttach,
  type Presence,
} from "../../../../../daemon/servers/guest/guestPresence.ts";
import { introductionTo } from "../../../../../daemon/servers/introduction.ts";
import type { SessionId } from "../../../../../protocol/ids.ts";

const id = (text: string): SessionId => text as SessionId;

const presence = (sessions: readonly string[], clients: readonly string[] = []): Presence =>
  decodePresence(
    Buffer.from(sessions.map((row) => `${row}\n`).join("")),
    Buffer.from(clients.map((row) => `${row}\n`).join("")),
  );

test("a plain client's listing says which tmux it is and who is where; without a session nothing else", () => {
  expect(decodeProbe("$0 30 0 0\n$1 10 0 0\ntmux 3.3a\n$1 0\n")).toEqual({
    version: "3.3a",
    presence: presence(["$0 30 0 0", "$1 10 0 0"], ["$1 0"]),
  });
  expect(decodeProbe("tmux 3.6b\n")).toEqual({ version: "3.6b", presence: [] });
  expect(decodeProbe("")).toBeUndefined();
  expect(decodeProbe("$0 30 0 0\n")).toBeUndefined();
});

test.each([
  ["3.2", "direct", "calm"],
  ["3.3a", "direct", "calm"],
  ["3.6b", "direct", "calm"],
  ["3.7", "any", "any"],
  ["next-3.8", "any", "any"],
  // A build between two releases has the messages of either.
  ["next-3.6", "calm", "calm"],
  ["3.6-rc", "calm", "calm"],
  ["master", "calm", "calm"],
  ["openbsd-7.4", "calm", "calm"],
  ["", "calm", "calm"],
])("tmux %s: a control client introduces itself %s, and where it cannot be direct %s", (version, direct, other) => {
  expect(introductionTo(version, true)).toBe(direct);
  expect(introductionTo(version, false)).toBe(other);
});

test("where nobody is, the session used longest ago is chosen, then the oldest", () => {
  expect(chooseSession(presence(["$0 30 0 0", "$1 10 0 0", "$2 20 0 0"]))).toBe("$1");
  expect(chooseSession(presence(["$10 10 0 0", "$9 10 0 0"]))).toBe("$9");
  expect(chooseSession(presence(["$0 30 0 0", "$1 10 0 0"]), [id("$1")])).toBe("$0");
  expect(chooseSession(presence([]))).toBeUndefined();
});

test("a session with one person in it is preferred, one with several is the last; onlookers are nobody", () => {
  const sessions = ["$0 10 0 0", "$1 20 0 0", "$2 30 0 0"];
  expect(chooseSession(presence(sessions, ["$2 0", "$1 1", "$1 1"]))).toBe("$2");
  expect(chooseSession(presence(sessions, ["$2 1"]))).toBe("$0");
  expect(chooseSession(presence(sessions, ["$0 0", "$0 0", "$1 0", "$1 0"]))).toBe("$2");
});

test.each([
  ["1", false],
  ["on", false],
  ["keep-last", false],
  ["0", true],
  ["off", true],
])("destroy-unattached %s: attaching alone is allowed: %s", (value, isAllowed) => {
  const alone = presence([`$0 1 ${value} 0`], ["$0 1"]);
  expect(mayAttach(alone, id("$0"))).toBe(isAllowed);
  expect(chooseSession(alone)).toBe(isAllowed ? "$0" : undefined);
  expect(mayAttach(presence([`$0 1 ${value} 0`], ["$0 0"]), id("$0"))).toBe(true);
});

test("exit-unattached: any other client keeps the server, ours does not", () => {
  const sessions = ["$0 1 0 1", "$1 1 0 1"];
  expect(mayAttach(presence(sessions, ["$1 0"]), id("$0"))).toBe(true);
  expect(mayAttach(presence(sessions, ["$1 1"]), id("$0"))).toBe(false);
});

test("rows that are none are passed over, and nothing speaks against a session that is not listed yet", () => {
  const odd = presence(["", "nonsense", "$x 1 0 0", "$3 5 0 0"], ["", "what 0"]);
  expect(odd.map((row) => row.session)).toEqual(["$3"]);
  expect(mayAttach(odd, id("$4"))).toBe(true);
});
