// Gives an agent its tasks, one after the other: node agentSupervisor.mjs PANE TASK…
// Each task is typed, verified on the screen, submitted and confirmed; the next one follows when the agent is idle again.
// A dialog is printed and left to a person, unless ANSWER gives the index (from 0) of the option to choose.
import { readFileSync } from "node:fs";
import { createClient } from "tmuxwire/client";

const url = process.env.TMUXWIRE_URL ?? "http://127.0.0.1:7420";
const tokenFile = process.env.TMUXWIRE_TOKEN_FILE ?? `${process.env.HOME}/.local/state/tmuxwire/token`;
const token = readFileSync(tokenFile, "utf8").trim();
const [paneName, ...tasks] = process.argv.slice(2);
const pane = createClient({ url, token }).server("main").pane(paneName);

for (const [at, task] of tasks.entries()) {
  await idle();
  const { outcome } = await pane.submit(task, { idempotencyKey: `supervisor-${process.pid}-${at}`, timeoutMs: 30_000 });
  console.log(`${outcome}: ${task}`);
  if (outcome !== "submitted") process.exit(1);
}
await idle();
console.log("all done");

/** Follows the agent's readiness until it takes a prompt. */
async function idle() {
  let asked;
  for await (const event of pane.follow({ readiness: true })) {
    if (event.kind === "closed") throw new Error(event.message);
    if (event.kind !== "readiness") continue;
    if (event.state === "idle") return;
    if (event.state === "dead") throw new Error("the agent has ended");
    // The state comes first, its dialog shortly after, and again when its highlight moves.
    if (event.state !== "asking" || event.dialog === undefined || event.dialog.id === asked) continue;
    asked = event.dialog.id;
    await ask(event.dialog);
  }
}

async function ask({ id, text, options }) {
  console.log(`asks: ${JSON.stringify(text.split("\n")[0])}, ${options.length} options`);
  const index = process.env.ANSWER;
  if (index === undefined) return;
  const { outcome } = await pane.choose({ kind: "option", index: Number(index) }, { dialogId: id });
  console.log(`answered: ${outcome}`);
}
