/** `capture-pane`: the lines of a terminal, screen and history, as tmux's `capture-pane` prints them. */
import type { TerminalCaptureResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall } from "../../bin/cli/commandTypes.ts";
import { flag, PANE_TARGET, text } from "./commandOptions.ts";
import { targetOfPane } from "./commandTargets.ts";
import { freshellCommand } from "./freshellCommand.ts";

/** In the server's form. */
const START = /^(?:-|-?\d{1,9})$/;

export const capturePaneCommand = freshellCommand<TerminalCaptureResponse>({
  name: "capture-pane",
  summary: "print what a terminal shows",
  details: ["A capture that cannot be exactly what was asked for fails with UNSUPPORTED_CAPTURE_MODE."],
  options: [
    ...PANE_TARGET,
    text(
      "start",
      "LINE",
      "the first line: 0 is the top of the screen, -5 five lines of history above it, - all history",
      {
        short: "S",
        dashed: true,
        default: "0",
      },
    ),
    flag("join", "join lines that the screen has wrapped", "J"),
    flag("escapes", "keep colours and attributes as escape sequences", "e"),
  ],
  examples: [
    { line: "freshell capture-pane --target terminal:ID", does: "its screen" },
    { line: "freshell capture-pane --target terminal:ID -S - -J", does: "all of its history, whole lines" },
  ],
  perform: async (call) => {
    const query = queryOf(call);
    const terminalId = await targetOfPane(call);
    return call.session.call({ method: "GET", path: `/api/terminals/${terminalId}/capture${query}` });
  },
  show: ({ lines }) => lines.map((line) => `${line}\n`).join(""),
});

function queryOf({ options }: CommandCall): string {
  const start = options.text("start");
  if (start !== undefined && !START.test(start)) {
    throw new AppError("INVALID_ARGUMENT", `-S takes a line number or -, not ${JSON.stringify(start.slice(0, 80))}`);
  }
  const given = [
    ...(start === undefined ? [] : [`S=${start}`]),
    ...(options.flag("join") ? ["J=1"] : []),
    ...(options.flag("escapes") ? ["e=1"] : []),
  ];
  return given.length === 0 ? "" : `?${given.join("&")}`;
}
