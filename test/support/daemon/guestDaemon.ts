/** A guest in a process of its own, to be killed as a crash would. */
import { spawn } from "node:child_process";
import { guestEngine } from "./cliBuild.ts";

/** Runs until it is killed; resolves once it watches this pane. */
export async function guestDaemon(socketPath: string, pane: string): Promise<{ kill(signal: NodeJS.Signals): void }> {
  const body = `
    const { startGuestServer, systemClock } = await import(${JSON.stringify(guestEngine())});
    const server = await startGuestServer({
      socketPath: ${JSON.stringify(socketPath)}, env: process.env, clock: systemClock,
    });
    const ignore = () => undefined;
    server.output(${JSON.stringify(pane)}).subscribe({ advanced: ignore, gap: ignore, exited: ignore, closed: ignore });
    await server.capture(${JSON.stringify(pane)});
    console.log("watching");
    setInterval(ignore, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", body], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`the guest ended with ${code}`)));
  });
  return { kill: (signal) => void child.kill(signal) };
}
