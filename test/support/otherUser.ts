/** A client that is another user's process. Only root can start one. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

/** Nobody, who owns nothing and may do nothing. */
export const OTHER_UID = 65_534;

export const isRoot = process.getuid?.() === 0;

/** Say so where a test is skipped. */
export function tellSkip(what: string): void {
  if (!isRoot) process.stderr.write(`not root: ${what} needs a second user, its test is skipped\n`);
}

const CLIENT = `
const [uid, raw] = [process.getuid(), JSON.parse(process.argv[1])];
const socket = require("net").connect(raw.port, raw.host, () => raw.closes ? socket.end(raw.text) : socket.write(raw.text));
let answer = "";
socket.on("data", (chunk) => { answer += chunk; });
socket.on("error", () => undefined);
socket.on("close", () => process.stdout.write(JSON.stringify({ uid, answer })));
`;

export interface RawAnswer {
  /** The client's own, to be sure that it was another's. */
  readonly uid: number;
  readonly answer: string;
}

/** Sends this text and reads until the other side ends. */
export async function asUser(
  uid: number,
  request: { readonly host?: string; readonly port: number; readonly text: string; readonly closes?: boolean },
): Promise<RawAnswer> {
  const child = spawn(process.execPath, ["-e", CLIENT, JSON.stringify({ host: "127.0.0.1", ...request })], {
    uid,
    gid: uid,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await text(child.stdout)) as RawAnswer;
}
