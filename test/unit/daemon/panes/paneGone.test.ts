/** A pane that went between being asked for and the reply is told in one way, whatever tmux says of it. */
import { expect, test } from "vitest";
import { captureScreen } from "../../../../daemon/panes/screen/capture.ts";
import { PaneStream } from "../../../../daemon/panes/paneStream.ts";
import type { PaneId } from "../../../../protocol/ids.ts";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

const pane = "%7" as PaneId;

test.each([
  ["can't find pane: %7", "NOT_FOUND"],
  ["can't find window: @7", "NOT_FOUND"],
  // The server's last session is gone, and the server not yet.
  ["no current target", "NOT_FOUND"],
  ["not enough memory", "TMUX_COMMAND_FAILED"],
])("a capture that is told %j fails with %s", async (said, code) => {
  const { connection, transport } = fakeConnection();
  const stream = new PaneStream({ id: pane, epoch: "e", retainBytes: 1_024, onListenerError: () => undefined });
  const captured = captureScreen({ pane, connection, stream, totalOutputBytes: () => 0 }, {}).then(
    () => undefined,
    (error: unknown) => error,
  );
  await turn();
  const closing = /"(\w{20,})/.exec(transport.lines.at(-1)!)![1]!;
  transport.reply(`${said}\n`, false);
  transport.reply(`${closing}\n`);
  expect(await captured).toMatchObject({ code });
});
