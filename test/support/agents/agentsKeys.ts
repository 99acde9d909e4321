/** What a test does at an agent program's terminal by hand: type, paste, press, look. */
import type { InputPart } from "../../../daemon/tmux/io.ts";
import { eventually } from "../clock/eventually.ts";
import type { AgentProgram } from "./agentPrograms.ts";
import { keys, text } from "../tmux/panePrograms.ts";

/** A person's pause between text and Enter, longer than what any of the programs takes for one paste. */
export const PAUSE_MS = 300;

export const paste = (value: string): InputPart => ({ kind: "paste", bytes: Buffer.from(value) });

/** The visible rows, without blanks at their ends. */
const screen = async ({ server, pane }: Pick<AgentProgram, "server" | "pane">): Promise<string> =>
  (await server.capture(pane)).lines.map((line) => line.trimEnd()).join("\n");

export const shows = (agent: Pick<AgentProgram, "server" | "pane">, what: string): Promise<void> =>
  eventually(async () => (await screen(agent)).includes(what));

/** Keys as a person presses them: each read on its own. */
export async function press({ server, pane, channel }: AgentProgram, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const from = channel.log.length;
    await server.input(pane, [/^.$/.test(name) ? text(name) : keys(name)]);
    await channel.next((entry) => entry.event === "read", from);
  }
}
