import { expect, test } from "vitest";
import { connectFailure, forwardFailure, hostInfoOf, lostConnection } from "../../../../adapters/remote/sshFailure.ts";
import { hostInfoLine } from "../../../../adapters/remote/hostInfo.ts";
import { AppError } from "../../../../protocol/errors.ts";

const HOST = { name: "build", destination: "me@build.example" };
const INFO = { version: "0.1.0", socketPath: "/run/tmuxwire.sock", token: "t".repeat(43), tmux: "tmux 3.3a" };

const stateOf = ({ details }: AppError): unknown => details?.["state"];
const thrown = (run: () => unknown): AppError => {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error("nothing was thrown");
};

const CHANGED = `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r
Host key verification failed.\r
`;

test.each([
  ["host_key_changed", CHANGED],
  ["host_key_new", "Host key verification failed.\r\n"],
  ["auth_needed", "me@build.example: Permission denied (publickey,password).\r\n"],
  ["auth_needed", "sign_and_send_pubkey: signing failed\r\nme@b: Permission denied (publickey).\r\n"],
  ["auth_needed", "Received disconnect from 10.0.0.1 port 22:2: Too many authentication failures\r\nDisconnected\r\n"],
  ["unreachable", "ssh: connect to host build.example port 22: Connection refused\r\n"],
  ["unreachable", "ssh: Could not resolve hostname build.example: Name or service not known\r\n"],
  ["unreachable", "kex_exchange_identification: Connection closed by remote host\r\n"],
  ["unreachable", "bash: /home/me/.ssh/config: Permission denied\r\n"],
  ["unreachable", ""],
])("not connected: %s", (state, stderr) => {
  const error = connectFailure(HOST, 255, stderr);
  expect([error.code, error.details]).toEqual(["DAEMON_UNREACHABLE", { host: "build", state }]);
  expect(error.message.split("\n").length).toBe(1);
});

test("messages say what to do next", () => {
  expect(connectFailure(HOST, 255, "me@b: Permission denied (publickey).\r\n").message).toBe(
    "build refuses the login without a question (me@b: Permission denied (publickey).): log in once with `tmuxwire hosts login build`, or load your key with `ssh-add`",
  );
  expect(connectFailure(HOST, 127, "sh: 1: exec: ssh: not found\n").message).toMatch(/install OpenSSH/);
  expect(lostConnection(HOST, "").message).toBe("the connection to build was lost; it is being restored");
});

test("what the other side has printed is one short line without control characters", () => {
  const { message } = connectFailure(HOST, 255, `first\nssh: \u001b[2J\u202ebad ${"x".repeat(500)}\r\n`);
  expect(message).not.toMatch(/[\p{Cc}\p{Cf}]|first/u);
  expect(/\((.*)\)/.exec(message)?.[1]?.length).toBe(200);
});

test("what the host says of itself", () => {
  const said = { code: 0, stdout: `motd\n${hostInfoLine(INFO)}`, stderr: "noise" };
  expect(hostInfoOf(HOST, said)).toEqual(INFO);
});

test.each([
  ["no_tmux", 0, hostInfoLine({ ...INFO, token: null, tmux: null }), ""],
  ["no_tmuxwire", 127, "", "bash: line 1: tmuxwire: command not found\n"],
  ["no_tmuxwire", 127, "", "env: 'node': No such file or directory\n"],
  ["no_tmuxwire", 126, "", "bash: tmuxwire: Permission denied\n"],
  ["no_tmuxwire", 0, "This account may not run commands.\n", ""],
  ["version", 2, "", "tmuxwire: unknown command host-info\n"],
  ["version", 0, 'tmuxwire-host: {"protocol":2}\n', ""],
  ["refused", 255, "", "mux_client_request_session: session request failed: Session open refused by peer\n"],
  ["unreachable", 69, "", "tmuxwire: no daemon is running, and starting one failed: no room\n"],
  ["unreachable", "ETIMEDOUT", "", "no end within 30000 ms"],
] as const)("%s from exit code %s", (state, code, stdout, stderr) => {
  const error = thrown(() => hostInfoOf(HOST, { code, stdout, stderr }));
  expect(stateOf(error)).toBe(state);
  if (stderr !== "" && state !== "refused") expect(error.message).toContain(stderr.trim());
});

test("a socket that is not forwarded, and a daemon that does not respond", () => {
  expect(stateOf(forwardFailure(HOST, "channel 2: open failed: administratively prohibited: open failed\r\n"))).toBe(
    "refused",
  );
  expect(stateOf(forwardFailure(HOST, "channel 12: open failed: connect failed: open failed\r\n"))).toBe("refused");
  expect(stateOf(forwardFailure(HOST, "socket hang up"))).toBe("unreachable");
});
