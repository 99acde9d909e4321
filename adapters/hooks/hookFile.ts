/**
 * A file of ours that an agent loads at its start: it sends the agent's events to the dashboard in the form of
 * its routes, or names the script that does. An agent never waits for a plugin: events are queued and posted in order, and
 * failures are ignored. It prints nothing.
 */
import { type HookedAgent, hookEntries } from "./agentHooks.ts";
import { shellWord } from "../../protocol/text/shellWord.ts";
import { isOurCommand } from "./hookScript.ts";

/** Tells our file from anyone else's. */
const FIRST_LINE = "// tmuxwire: tells the dashboard what this agent is doing.";

interface FilePlace {
  readonly dashboardUrl: string;
  readonly scriptPath: string;
  /** curl's options with the token; reread at every event, so that a new token takes effect. */
  readonly secretsPath: string;
}

/** Queued events; the agent's newest ones matter, not all of them. */
const MAX_WAITING = 64;
const WITHIN_MS = 2_000;

export function hookFileText(agent: HookedAgent<"file" | "plugin">, place: FilePlace): string {
  const { name, hooks: how, plugin = "" } = agent;
  if (how.install === "plugin") return `${pluginHead(name, how.firstLines, place)}\n${plugin}`;
  const entries = hookEntries(how, shellWord(place.scriptPath), place.dashboardUrl);
  const hooks = Object.fromEntries([...entries].map(([event, entry]) => [event, [entry]]));
  return `${JSON.stringify({ version: 1, hooks }, undefined, 2)}\n`;
}

const pluginHead = (
  name: string,
  firstLines: readonly string[],
  { dashboardUrl, secretsPath }: FilePlace,
): string => `${[FIRST_LINE, ...firstLines].join("\n")}
// Written by \`tmuxwire hooks install ${name}\`, which replaces it; \`tmuxwire hooks uninstall ${name}\` removes it.
import { readFileSync } from "node:fs";

const DASHBOARD = ${JSON.stringify(dashboardUrl)};
const SECRETS = ${JSON.stringify(secretsPath)};
let last = Promise.resolve();
let waiting = 0;

function headers() {
  const all = { "Content-Type": "application/json" };
  // As tmux sets them: %7, and SOCKET,PID,SESSION. Anything else is no header.
  const { TMUX_PANE: pane = "", TMUX: tmux = "" } = process.env;
  if (/^%\\d+$/.test(pane)) all["X-Tmux-Pane"] = pane;
  if (/^\\/[\\x20-\\x7e]*,\\d+,\\d+$/.test(tmux)) all["X-Tmux"] = tmux;
  try {
    const found = /^header = "(Authorization): ((?:[^"\\\\]|\\\\.)*)"/m.exec(readFileSync(SECRETS, "utf8"));
    if (found) all[found[1]] = found[2].replace(/\\\\(.)/g, "$1");
  } catch {}
  return all;
}

function tell(route, event) {
  if (waiting >= ${MAX_WAITING}) return;
  waiting += 1;
  const once = async () => {
    try {
      const body = JSON.stringify(event);
      const signal = AbortSignal.timeout(${WITHIN_MS});
      const answer = await fetch(\`\${DASHBOARD}/hook/\${route}\`, { method: "POST", headers: headers(), body, signal });
      await answer.arrayBuffer();
    } catch {}
    waiting -= 1;
  };
  last = last.then(once);
}
`;

export const isOurFile = (text: string): boolean => text.startsWith(`${FIRST_LINE}\n`) || isOurHooks(text);

/** JSON has no comment to recognise it by: it is ours when every command in it is. */
function isOurHooks(text: string): boolean {
  if (!text.startsWith("{")) return false;
  try {
    const { hooks } = JSON.parse(text) as { readonly hooks: Record<string, readonly object[]> };
    const all = Object.values(hooks).flat();
    return all.length > 0 && all.every((entry) => Object.values(entry).some(isOurCommand));
  } catch {
    return false;
  }
}
