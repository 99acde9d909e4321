export const TmuxwirePlugin = async ({ directory }) => {
  // What a session starts for itself is its own business.
  const children = new Set();
  const base = (session_id) => ({ session_id, cwd: directory, working_directory: directory });
  const known = new Set();
  const begin = (id) => {
    if (known.has(id)) return;
    known.add(id);
    tell("session-start", { ...base(id), source: "resume" });
  };
  const texts = new Map();
  return {
    "chat.message": async ({ sessionID }, { parts }) => {
      try {
        if (children.has(sessionID)) return;
        begin(sessionID);
        const prompt = parts.filter(({ type, synthetic }) => type === "text" && !synthetic).map(({ text }) => text);
        tell("user-prompt-submit", { ...base(sessionID), prompt: prompt.join("\n") });
      } catch {}
    },
    event: async ({ event }) => {
      try {
        const { type, properties = {} } = event;
        const { info, part } = properties;
        if (type === "session.created") {
          if (info.parentID) children.add(info.id);
          return;
        }
        const id = properties.sessionID ?? part?.sessionID;
        if (typeof id !== "string" || children.has(id)) return;
        if (type === "message.part.updated" && part.type === "text") texts.set(id, part.text);
        if (type === "session.idle") {
          tell("stop", { ...base(id), last_assistant_message: texts.get(id) ?? "" });
          texts.delete(id);
        }
        if (type === "permission.asked") {
          const { permission, metadata } = properties;
          tell("permission-request", { ...base(id), tool_name: permission, tool_input: metadata });
        }
        if (type === "permission.replied") tell("post-tool-use", base(id));
      } catch {}
    },
  };
};
