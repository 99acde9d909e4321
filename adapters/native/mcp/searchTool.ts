/** The MCP tool that searches panes' screens and history. */
import * as v from "valibot";
import { described, filled, optional } from "../../../protocol/api/described.ts";
import type { NativeCapture, NativePane } from "../../../protocol/api/native/nativeResponses.ts";
import { captureRequestSchema } from "../../../protocol/api/native/nativeRequests.ts";
import { DEFAULT_TEXT_BYTES, framed, visible } from "./foreignText.ts";
import { mcpTool, PANE, TEXT_BOUND, unlessGone } from "./mcpTool.ts";

const DEFAULT_LINES = 2_000;
const MAX_MATCHES = 200;
/** Panes are captured one by one, and a capture costs tmux more the longer the history is. */
const MAX_PANES = 64;

interface Match {
  readonly pane: string;
  /** The line's distance from the last line: 0 is the last. */
  readonly line: number;
  /** Foreign text. */
  readonly text: string;
}

export const searchTool = mcpTool({
  name: "search",
  title: "Search panes",
  description:
    "Find the lines that contain a text, in the history and screen of one pane or of all, newest first. Costs a capture per " +
    "pane: name the pane if you know it. For text that is still to come, use `wait`.",
  effect: "reads",
  input: v.strictObject({
    server: PANE.server,
    pane: v.optional(PANE.pane),
    pattern: described(
      v.strictObject({
        literal: described(filled(1_024), "The text to find, within one line."),
        ignoreCase: optional(v.boolean(), "Ignore upper and lower case."),
      }),
      "What to look for.",
    ),
    lines: captureRequestSchema.entries.lines,
    ...TEXT_BOUND,
  }),
  words: {
    pane: "Only this pane; default: all.",
    pattern: null,
    text: { type: "string", description: "Within one line; no regular expression." },
    ignoreCase: { type: "boolean" },
    lines: "The last so many lines, up to 5000; default 2000.",
  },
  run: async (call, { server: given, pane, pattern, lines = DEFAULT_LINES, maxOutputBytes = DEFAULT_TEXT_BYTES }) => {
    const { name, server } = call.server(given);
    const all =
      pane === undefined
        ? (await call.perform<{ readonly panes: readonly NativePane[] }>("listPanes", { server: name })).panes
            .filter((one) => server === undefined || call.tier.seesPane(server, one))
            .map(({ id }) => ({ server: name, pane: id }))
        : // An agent's name leads to its own server.
          [call.paneName({ server: name, pane })];
    const fold = (text: string): string => (pattern.ignoreCase === true ? text.toLowerCase() : text);
    const wanted = fold(pattern.literal);
    const matches: Match[] = [];
    const searched: string[] = [];
    for (const place of all.slice(0, MAX_PANES)) {
      call.signal?.throwIfAborted();
      const capture = await unlessGone(call.onPane<NativeCapture>("capture", place, { lines, joined: true }));
      if (capture === undefined) continue;
      const { pane: id } = place;
      const rows = capture.lines;
      searched.push(id);
      const last = rows.findLastIndex((row) => row !== "");
      for (let at = last; at >= 0 && matches.length <= MAX_MATCHES; at -= 1) {
        if (fold(rows[at]!).includes(wanted)) matches.push({ pane: id, line: last - at, text: visible(rows[at]!) });
      }
    }
    // The oldest are dropped; the rest keep the order in which they were found.
    const found = withinBytes(matches.slice(0, MAX_MATCHES), maxOutputBytes);
    const more = found.length < matches.length || all.length > MAX_PANES;
    const rows = found.map(({ pane: where, line, text }) => `${where} -${line}: ${text}`).join("\n");
    const said = `${found.length} matching lines in ${searched.length} panes${more ? "; there are more: name a pane" : ""}.`;
    return { text: `${said}\n${framed(rows)}`, structured: { matches: found, searched, more, untrusted: ["text"] } };
  },
});

function withinBytes<One extends { readonly text: string }>(matches: readonly One[], maxBytes: number): readonly One[] {
  let left = maxBytes;
  const end = matches.findIndex(({ text }) => (left -= Buffer.byteLength(text) + 1) < 0);
  return end < 0 ? matches : matches.slice(0, end);
}
