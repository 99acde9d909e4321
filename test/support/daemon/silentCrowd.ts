/** A process that holds silent connections to a port and opens each anew as soon as it is closed, at a steady count. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const PROGRAM = `
const [port, count, text] = [Number(process.argv[1]), Number(process.argv[2]), process.argv[3]];
let opened = 0, connected = 0;
const open = () => {
  const socket = require("net").connect(port, "127.0.0.1");
  opened += 1;
  socket.once("connect", () => { connected += 1; if (text !== "") socket.write(text); });
  socket.on("error", () => undefined);
  socket.resume();
  // A socket that cannot even be opened is not tried again in the same turn.
  socket.once("close", () => setTimeout(open, 10));
};
for (let at = 0; at < count; at += 1) open();
setInterval(() => console.log(JSON.stringify({ opened, connected })), 50);
`;

interface SilentCrowd extends AsyncDisposable {
  /** How many connections it has begun so far, as it last said. */
  opened(): number;
  /** Once it has begun so many. */
  until(opened: number): Promise<void>;
}

/** @param text what each of them sends; nothing when it is empty */
export function silentCrowd(port: number, count: number, text = "", uid?: number): SilentCrowd {
  const child = spawn(process.execPath, ["-e", PROGRAM, String(port), String(count), text], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: "/",
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  let opened = 0;
  const waiting = new Set<() => void>();
  createInterface(child.stdout).on("line", (line) => {
    ({ opened } = JSON.parse(line) as { opened: number });
    for (const probe of waiting) probe();
  });
  return {
    opened: () => opened,
    until: (wanted) =>
      new Promise((resolve) => {
        const probe = (): void => {
          if (opened < wanted) return;
          waiting.delete(probe);
          resolve();
        };
        waiting.add(probe);
        probe();
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
