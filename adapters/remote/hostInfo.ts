/**
 * What `tmuxwire host-info` prints on a host for a daemon that reaches it over ssh: one line of JSON behind a mark, because
 * the start-up files of a shell may print as well.
 */
import * as v from "valibot";
import { tryParse } from "../../protocol/api/parse.ts";
import { MAX_SOCKET_PATH_BYTES } from "../../protocol/limits.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";

const PROTOCOL = 1;
const MARK = "tmuxwire-host: ";
/** What is shown to people as it stands. */
const word = v.pipe(v.string(), v.regex(/^[\x21-\x7e][\x20-\x7e]{0,99}$/));

const lineSchema = v.object({
  protocol: v.literal(PROTOCOL),
  /** The daemon's, or without one that of the program. */
  version: word,
  /** ssh takes `:`, `%`, `$` and `\` in the path of a forwarding for its own. */
  socketPath: v.pipe(v.string(), v.maxBytes(MAX_SOCKET_PATH_BYTES), v.regex(/^\/[^\p{C}:%$\\]+$/u)),
  /** Null with `tmux`: then no daemon runs, and none can start. */
  token: v.nullable(v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,512}$/))),
  /** The daemon's version of tmux; null without tmux. */
  tmux: v.nullable(word),
});
export type HostInfo = Omit<v.InferOutput<typeof lineSchema>, "protocol">;

/** Begins with a line end: what was printed before may lack its own. */
export const hostInfoLine = (info: HostInfo): string => `\n${MARK}${JSON.stringify({ protocol: PROTOCOL, ...info })}\n`;

/** `absent`: no line with the mark. `unknown`: one of another protocol. */
export function readHostInfo(stdout: string): HostInfo | "absent" | "unknown" {
  const line = stdout.split("\n").find((one) => one.startsWith(MARK));
  if (line === undefined) return "absent";
  const parsed = tryParse(lineSchema, parseJson(line.slice(MARK.length)));
  if (!parsed.success) return "unknown";
  const { protocol: _protocol, ...info } = parsed.output;
  return info;
}
