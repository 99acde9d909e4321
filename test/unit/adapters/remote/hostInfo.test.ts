import { expect, test } from "vitest";
import { hostInfoLine, readHostInfo } from "../../../../adapters/remote/hostInfo.ts";

const INFO = {
  version: "0.1.0",
  socketPath: "/run/user/1/tmuxwire/tmuxwire.sock",
  token: "t".repeat(43),
  tmux: "3.3a",
};

test("the line is found behind whatever start-up files print", () => {
  expect(readHostInfo(hostInfoLine(INFO))).toEqual(INFO);
  expect(readHostInfo(`Welcome!\n\u001b[1mno line end${hostInfoLine(INFO)}bye\n`)).toEqual(INFO);
  expect(readHostInfo(hostInfoLine({ ...INFO, token: null, tmux: null }))).toMatchObject({ token: null, tmux: null });
});

test.each(["", "Welcome!\n", "no tmuxwire-host: {}\n"])("no line in %j", (printed) => {
  expect(readHostInfo(printed)).toBe("absent");
});

test("a line of another protocol, and one that is not what it should be", () => {
  const odd = [
    "{}",
    "no JSON",
    "[]",
    JSON.stringify({ ...INFO, protocol: 2 }),
    JSON.stringify({ ...INFO, protocol: 1, version: "0.1\u001b[2J" }),
    JSON.stringify({ ...INFO, protocol: 1, socketPath: "relative" }),
    JSON.stringify({ ...INFO, protocol: 1, socketPath: "/run/a:/run/b" }),
    JSON.stringify({ ...INFO, protocol: 1, socketPath: "/run/${HOME}" }),
    JSON.stringify({ ...INFO, protocol: 1, socketPath: `/${"x".repeat(107)}` }),
    JSON.stringify({ ...INFO, protocol: 1, token: "one\r\ntwo" }),
  ];
  for (const text of odd) expect([text, readHostInfo(`tmuxwire-host: ${text}\n`)]).toEqual([text, "unknown"]);
});
