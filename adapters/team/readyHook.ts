/**
 * Loaded into every worker's pi (`pi -e`): reports on pi's own terminal when pi is ready for a prompt and when it works on
 * one, as OSC 7501, which terminals ignore and the daemon reads. It uses no network and no secret, and only pi's events.
 */
import { unguardPrompt } from "./start/workerPrompt.ts";

interface HookApi {
  on(event: string, handler: (event: unknown, context?: unknown) => unknown): void;
}

const say = (state: "idle" | "working"): void => {
  if (process.stdout.isTTY) process.stdout.write(`\u001b]7501;state=${state}\u0007`);
};

export default function readyHook(pi: HookApi): void {
  pi.on("session_start", () => say("idle"));
  pi.on("agent_start", () => say("working"));
  pi.on("agent_end", () => say("idle"));
  pi.on("input", (event) => {
    const { text } = event as { readonly text?: unknown };
    if (typeof text !== "string") return undefined;
    const meant = unguardPrompt(text);
    return meant === text ? undefined : { action: "transform", text: meant };
  });
}
