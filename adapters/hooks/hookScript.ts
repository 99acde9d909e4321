/**
 * The POSIX sh script that an agent runs at each event; it posts the event to the dashboard unchanged. The agent waits for
 * it, so it is quick and always succeeds, with or without a dashboard, tmux or curl. It prints nothing, because the agent
 * would read its output.
 */

interface HookScript {
  /** The agent's name in `tmuxwire hooks`; the script and its secrets file are named after it. */
  readonly name: string;
  readonly title: string;
  /** Shell lines that run before anything is posted. */
  readonly guard: readonly string[];
}

/** Under the data directory. */
export const HOOKS_DIRECTORY = ["tmuxwire", "hooks"] as const;

export const scriptName = (name: string): string => `${name}.sh`;

/** A file beside the script: curl options with the dashboard's token, if it has one. Never on a command line. */
export const secretsName = (name: string): string => `${name}.curl`;

export function hookScript({ name, title, guard }: HookScript): string {
  const lines = [
    "#!/bin/sh",
    `# tmuxwire: tells the dashboard what ${title} is doing. Usage: ${scriptName(name)} DASHBOARD_URL EVENT, the event on stdin.`,
    `# Written by \`tmuxwire hooks install ${name}\`, which replaces it.`,
    "LC_ALL=C",
    "export LC_ALL",
    "exec >/dev/null 2>&1",
    "if ! command -v curl; then",
    "  # Whoever writes the event must not meet a closed pipe.",
    "  cat",
    "  exit 0",
    "fi",
    ...guard,
    "url=$1/hook/$2",
    `secrets=\${0%/*}/${secretsName(name)}`,
    "pane=${TMUX_PANE-}",
    "tmux=${TMUX-}",
    "# -q: nobody's .curlrc; -g: [::1] is an address. Without Expect a long event waits for no permission.",
    "set -- -q -s -g --noproxy '*' --connect-timeout 1 --max-time 2 -H 'Content-Type: application/json' -H 'Expect:'",
    'if [ -r "$secrets" ]; then set -- "$@" -K "$secrets"; fi',
    "# As tmux sets them: %7, and SOCKET,PID,SESSION. Anything else is no header.",
    'case "${pane#?}" in',
    "  '' | *[!0-9]*) ;;",
    '  *) case "$pane" in %*) set -- "$@" -H "X-Tmux-Pane: $pane" ;; esac ;;',
    "esac",
    'case "$tmux" in',
    "  '' | *[![:print:]]*) ;;",
    '  /*,*,*) set -- "$@" -H "X-Tmux: $tmux" ;;',
    "esac",
    'curl "$@" --data-binary @- "$url"',
    "exit 0",
  ];
  return `${lines.join("\n")}\n`;
}

/**
 * The usual command in an agent's settings; `{script}` and `{url}` are quoted shell words. It uses no variables, because
 * an agent may expand those it knows before the shell does. Without the script it still succeeds and reads its event, so
 * that the agent does not write to a closed pipe.
 */
export const HOOK_COMMAND = "if [ -r {script} ]; then exec sh {script} {url} {route}; fi; cat >/dev/null 2>&1; exit 0";

/** Whether a command in the settings is ours, from any version. */
export const isOurCommand = (command: unknown): boolean =>
  typeof command === "string" && /\/tmuxwire\/hooks\/[a-z]+\.sh["']/.test(command);
