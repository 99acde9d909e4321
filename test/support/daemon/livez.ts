/** How soon a daemon answers `/livez` while it is at work, beside what the machine allows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { spread } from "./loadReport.ts";

const ASKER = fileURLToPath(new URL("livezAsker.mjs", import.meta.url));

type Spread = ReturnType<typeof spread>;

async function asking(url: string): Promise<() => Promise<Spread>> {
  const child = spawn(process.execPath, [ASKER, url], { stdio: ["pipe", "pipe", "inherit"] });
  const told = text(child.stdout);
  await once(child.stdout, "data");
  return async () => {
    child.stdin.end();
    return spread(JSON.parse(await told) as number[]);
  };
}

/** Does nothing but respond: what its responses take, the machine takes, on which the clients of a round compete for time. */
const IDLE_SERVER = `
const server = require("node:http").createServer((request, response) => response.end("{}"));
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));
process.stdin.resume().once("end", () => process.exit());
`;

/** How long `/livez` takes, from now until what is returned is called, and how long a server that does nothing else. */
export async function livez(
  url: string,
): Promise<() => Promise<{ readonly livez: Spread; readonly idleServer: Spread }>> {
  const idle = spawn(process.execPath, ["-e", IDLE_SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const [address] = (await once(idle.stdout, "data")) as [Buffer];
  const [endLivez, endIdle] = [await asking(url), await asking(String(address).trim())];
  return async () => {
    const ended = { livez: await endLivez(), idleServer: await endIdle() };
    idle.stdin.end();
    return ended;
  };
}
