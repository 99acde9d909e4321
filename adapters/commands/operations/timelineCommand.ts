/** `tmuxwire timeline`: what was asked of agents, what they asked, and how it ended. */
import type { NativeTimeline, NativeTimelineEntry } from "../../client/client.ts";
import { printable } from "../../cli/textTable.ts";
import { operationCommand } from "./operationCommand.ts";
import { AGENT } from "./paneArguments.ts";
import { timeText } from "./waitingText.ts";

export const timelineCommand = operationCommand<NativeTimeline>({
  operation: "timeline",
  name: "timeline",
  details: [
    "Of the last 30 days, the newest first: starts, prompts, questions, answers and by whom, ends of turns with the last " +
      "words, ends, new names. AGENT may have ended; a name stands for all that were called so. `pane` as who means: by keys " +
      "in its pane.",
  ],
  positionals: [{ ...AGENT, optional: true }],
  tweak: {
    query: { name: "search", short: "s", value: "TEXT" },
    kind: { short: "k", value: "KIND" },
    limit: { short: "n", value: "N" },
    before: { value: "NUMBER" },
    server: { name: "on" },
  },
  examples: [
    { line: "tmuxwire timeline", does: "of all agents" },
    { line: "tmuxwire timeline api --search delete", does: "of one, with this text in it" },
    { line: "tmuxwire timeline --kind answer --limit 20", does: "the last answers, and who gave them" },
  ],
  show: async ({ io }, { entries, next, dropped }) => {
    await io.out(entries.map(entryText).join(""));
    if (dropped !== null) {
      const until = timeText(dropped.untilUnixMs);
      io.err(`tmuxwire: ${dropped.entries} entries up to ${until} were removed, because there were too many\n`);
    }
    if (next !== null) io.err(`tmuxwire: there are older ones: --before ${next}\n`);
  },
});

function entryText({ unixMs, name, kind, by, text, options, outcome }: NativeTimelineEntry): string {
  const who = by === null ? "" : ` by ${printable(by)}`;
  const how = outcome === null ? "" : ` (${outcome})`;
  const lines = text === null ? [] : text.split("\n");
  const offered = (options ?? []).map((label, index) => `${index}. ${label}`);
  const below = [...lines, ...offered].map((line) => `    ${printable(line)}\n`);
  return `${timeText(unixMs)}  ${printable(name)}  ${kind}${who}${how}\n${below.join("")}`;
}
