/** A control client of the user's own that looks on: commands whose moment must be known exactly, without a new process. */
import { spawn } from "node:child_process";
import type { PrivateSocket } from "./ownedFixture.ts";

export interface UserControl extends AsyncDisposable {
  /** Writes the command now; resolves with the lines of its reply. */
  command(line: string): Promise<string>;
}

export async function userControl(socket: PrivateSocket, session: string): Promise<UserControl> {
  const attach = ["attach-session", "-E", "-t", `=${session}`, "-f", "ignore-size,no-output"];
  const child = spawn("tmux", ["-C", "-u", "-S", socket.socketPath, ...attach], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: { resolve(body: string): void; reject(error: Error): void }[] = [];
  const gone = new Promise<void>((resolve) => {
    child.once("close", () => {
      for (const call of waiting) call.reject(new Error("the user's tmux has ended"));
      resolve();
    });
  });
  // A server that has ended takes no more.
  child.stdin.on("error", () => undefined);
  const attached = new Promise<void>((resolve) => {
    let text = "";
    let body: string[] | undefined;
    child.stdout.setEncoding("utf8").on("data", (data: string) => {
      const rows = `${text}${data}`.split("\n");
      text = rows.pop() ?? "";
      for (const row of rows) {
        const [, word, flags] = /^%(begin|end|error) \d+ \d+ (\d)/.exec(row) ?? [];
        if (word === undefined) body?.push(row);
        else if (flags === "0") resolve();
        else if (word === "begin") body = [];
        else {
          const answer = (body ?? []).join("\n");
          if (word === "end") waiting.shift()?.resolve(answer);
          else waiting.shift()?.reject(new Error(answer));
          body = undefined;
        }
      }
    });
  });
  await Promise.race([attached, gone]);
  return {
    command: (line) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${line}\n`);
      }),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await gone;
    },
  };
}
