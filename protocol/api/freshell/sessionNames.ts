/** The names of sessions, apart from the schemas, because the command line loads them at every start. */

/** The two kinds of session. */
export const SESSION_KINDS = ["sdk", "codingcli"] as const;
export type SessionKind = (typeof SESSION_KINDS)[number];
/** The programs of `codingcli` sessions. Those without a JSON stream are known by name but refused. */
export const CODING_PROVIDERS = ["claude", "codex", "opencode", "gemini", "kimi"] as const;
export type CodingProvider = (typeof CODING_PROVIDERS)[number];
export const EFFORTS = ["low", "medium", "high", "max"] as const;
export const PERMISSION_MODES = ["default", "plan", "acceptEdits", "bypassPermissions"] as const;
export const SANDBOXES = ["read-only", "workspace-write", "danger-full-access"] as const;
