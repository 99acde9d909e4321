// oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access -- plain JavaScript: Node's modules have no types here
/**
 * Asks `/livez` again and again until its input ends, then prints how long each took: in a process of its own, because one
 * that starts hundreds of clients does not hear the responses meanwhile.
 */
import { Agent, get } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const url = `${process.argv[2]}/livez`;
const agent = new Agent({ keepAlive: true });
const tookMs = [];
process.stdin.resume();

while (!process.stdin.readableEnded) {
  const fromMs = performance.now();
  await new Promise((resolve, reject) => {
    get(url, { agent }, (response) => response.resume().once("end", resolve)).once("error", reject);
  });
  tookMs.push(performance.now() - fromMs);
  if (tookMs.length === 1) process.stdout.write("[");
  await delay(5);
}
agent.destroy();
process.stdout.write(`${tookMs.join(",")}]`);
