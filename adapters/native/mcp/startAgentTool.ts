/** The MCP tool that starts a coding agent. */
import * as v from "valibot";
import { type NativeAgentStarted, startAgentSchema } from "../../../protocol/api/native/nativeAgentStart.ts";
import { filled, optional } from "../../../protocol/api/described.ts";
import { AppError } from "../../../protocol/errors.ts";
import { readAgents } from "../../agents/catalogue.ts";
import { findSession } from "../../operations/findTargets.ts";
import { mcpTool } from "./mcpTool.ts";

const { server, ...request } = startAgentSchema.entries;

export const startAgentTool = mcpTool({
  name: "start_agent",
  title: "Start a coding agent",
  description:
    "Start a coding agent in a pane and give it a prompt. Returns when it has taken it, or with what stands on its screen: read " +
    "the outcome. `asking`: it asks something first (trust, login); answer with `choose` if that decision is yours, then " +
    "`submit` the prompt.",
  effect: "works",
  input: v.strictObject({
    server,
    ...request,
    idempotencyKey: optional(filled(256), "Done once per key."),
  }),
  words: {
    server: "",
    agent: `Which: ${readAgents()
      .flatMap(({ name, profile }) => (profile === undefined ? [] : [name]))
      .join(", ")}.`,
    name: "Default: one that is free.",
    prompt: "Its first prompt.",
    program: "The program, if it is not on the PATH.",
    args: "Its arguments.",
    cwd: "Absolute; default: home.",
    environment: "",
    where: {
      type: "object",
      description: "{kind: session, name} (default), {kind: window, session} or {kind: split, pane, direction}.",
    },
    resume: "A conversation's id, to go on with it.",
    worktree: { description: "true, or {branch, from}: a git worktree of its own." },
    timeoutMs: "Default 60000.",
  },
  run: async (call, { idempotencyKey, ...input }) => {
    const { name, server: tmux } = call.server(input.server);
    const { where } = input;
    switch (where?.kind) {
      case "split":
        call.paneName({ server: name, pane: where.pane });
        break;
      case "window":
        if (tmux !== undefined) call.tier.requireSession(findSession(tmux, where.session));
        break;
      case "session":
      case undefined: {
        const session = where?.name ?? input.name;
        if (session === undefined && !call.tier.seesSession({ id: "", name: input.agent })) {
          throw new AppError("FORBIDDEN", "this client may use only some sessions; give a name that is one of them");
        }
        if (session !== undefined) call.tier.requireSession({ id: "", name: session });
      }
    }
    const started = await call.perform<NativeAgentStarted>(
      "startAgent",
      {},
      { ...input, server: name },
      { idempotencyKey },
    );
    const { agent, pane, outcome, reason } = started;
    return {
      text: `Outcome: ${outcome}${reason === null ? "" : ` (${reason})`}; agent ${agent?.name ?? "unknown"} in pane ${pane}.`,
      structured: { ...started, untrusted: ["screen", "question", "reason", "agent"] },
    };
  },
});
