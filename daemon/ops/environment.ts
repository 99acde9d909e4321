/**
 * The variables that a pane may inherit. A new tmux server copies its creator's environment into every pane
 * (docs/tmuxFacts.md 35), so an owned server is started with an allow-list: what a login shell needs, and no secrets.
 */
const ALLOWED = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
]);

/** @param also further names the user has allowed. */
export function paneEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  also: readonly string[] = [],
): Record<string, string> {
  const allowed: Record<string, string> = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && (ALLOWED.has(name) || name.startsWith("LC_") || also.includes(name))) {
      allowed[name] = value;
    }
  }
  return allowed;
}

/**
 * Variables that hold our tokens, or those of programs whose tmux servers we take over. Such a server (an earlier bridge
 * started one) may pass them to every new pane, where any program can read them.
 */
export const SECRET_VARIABLES = [
  "AUTH_TOKEN",
  "FRESHELL_TOKEN",
  "TMUX_BRIDGE_TOKEN",
  "TMUXWIRE_DASHBOARD_TOKEN",
  "TMUXWIRE_TOKEN",
  "PI_TEAMD_TOKEN",
] as const;

/** Set by the pane that we were started in; a program that inherits them believes it runs in that pane. */
const OF_AN_OUTER_PANE: readonly string[] = ["TMUX", "TMUX_PANE"];

/**
 * The environment of an agent session's program: all of ours, which has the agent's keys and settings, without our own
 * secrets.
 * @param marks variables that agents set for their children; an agent may have started us
 */
export function agentEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  marks: readonly string[],
): Record<string, string> {
  const isOurs = (name: string): boolean =>
    OF_AN_OUTER_PANE.includes(name) ||
    marks.includes(name) ||
    SECRET_VARIABLES.some((secret) => name === secret) ||
    /^(?:TMUXWIRE|FRESHELL|PI_TEAMD)_.*TOKEN/.test(name);
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !isOurs(entry[0]),
    ),
  );
}
