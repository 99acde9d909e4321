/** `send-keys`: tokens as keys and text, in one job, so that no other sender's input comes between them. */
import type { TerminalInputResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { KEY_NAMES } from "../../../protocol/api/freshell/keyTokens.ts";
import { flag, PANE_TARGET } from "./commandOptions.ts";
import { targetOfPane } from "./commandTargets.ts";
import { freshellCommand } from "./freshellCommand.ts";
import { AppError } from "../../../protocol/errors.ts";

export const sendKeysCommand = freshellCommand<TerminalInputResponse>({
  name: "send-keys",
  summary: "type into a terminal",
  details: [
    `Tokens are typed from left to right with nothing between them. These are keys, in any case: ${KEY_NAMES.join(", ")}; ` +
      "C-x and M-x with a character for x, and C-, M- or S- before a name. Any other token is text.",
    "`--` ends the options: a token after it may begin with a dash.",
  ],
  positionals: [{ name: "KEYS", description: "names of keys, and text", many: true, verbatim: true }],
  options: [...PANE_TARGET, flag("literal", "every token is text; they are joined with one space", "l")],
  examples: [
    { line: "freshell send-keys --target terminal:ID 'make test' Enter", does: "run a command in its shell" },
    { line: "freshell send-keys --target terminal:ID C-c", does: "interrupt it" },
    { line: "freshell send-keys --target terminal:ID -l -- -l Enter", does: "type the text `-l Enter`" },
  ],
  perform: async (call) => {
    refuseLostBytes(call.positionals);
    const terminalId = await targetOfPane(call);
    const body = { keys: call.positionals, literal: call.options.flag("literal") };
    return call.session.call({ method: "POST", path: `/api/terminals/${terminalId}/input`, body });
  },
});

/** Refuses U+FFFD, by which Node replaces invalid UTF-8 in arguments: other bytes than given would be typed. */
function refuseLostBytes(tokens: readonly string[]): void {
  const at = tokens.findIndex((token) => token.includes("\u{fffd}"));
  if (at === -1) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    `token ${at + 1} is not valid UTF-8, or holds U+FFFD, which looks the same here: give UTF-8 text`,
  );
}
