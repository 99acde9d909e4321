const textOf = (message) =>
  typeof message?.content === "string"
    ? message.content
    : (message?.content ?? []).map((part) => (part?.type === "text" ? part.text : "")).join("");

export default function (pi) {
  const on = (name, act) =>
    pi.on(name, (event, ctx) => {
      try {
        act(event, { session_id: ctx.sessionManager.getSessionId(), cwd: ctx.cwd, working_directory: ctx.cwd });
      } catch {}
    });
  on("session_start", (event, base) => {
    // It reads prompts only when all of its extensions have started: it is not said to be starting here.
    tell("session-start", { ...base, source: event.reason === "startup" ? "resume" : event.reason });
  });
  on("before_agent_start", (event, base) => tell("user-prompt-submit", { ...base, prompt: event.prompt }));
  on("agent_end", (event, base) => {
    const answer = (event.messages ?? []).filter((message) => message?.role === "assistant").at(-1);
    tell("stop", { ...base, last_assistant_message: textOf(answer) });
  });
  on("session_shutdown", (event, base) => {
    if (event.reason === undefined || event.reason === "quit") tell("session-end", base);
  });
}
