/** The hooks that agents report by, as they are in the routes. The page knows them too. */
export const HOOKS = [
  "session-start",
  "session-end",
  "user-prompt-submit",
  "stop",
  "notification",
  "pre-tool-use",
  "post-tool-use",
  "permission-request",
] as const;
export type HookName = (typeof HOOKS)[number];

export const isHookName = (text: string): text is HookName => (HOOKS as readonly string[]).includes(text);
