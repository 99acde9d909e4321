/** A pane whose input somebody has turned off (`select-pane -d`): tmux drops what is typed, and whoever typed is told. */
import { expect, test } from "vitest";
import type { InputPart } from "../../daemon/tmux/io.ts";
import { eventually } from "../support/clock/eventually.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { keys, text } from "../support/tmux/panePrograms.ts";

const paste: InputPart = { kind: "paste", bytes: Buffer.from("pasted;") };
const large = text("x".repeat(40_000));

test("every kind of input fails, and none of it arrives before or after it is turned on again", async () => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const command = ["sh", "-c", "stty raw -echo; exec cat"];
  const pane = (await server.createSession({ name: "off", command })).activePane!;
  const screen = (): string => socket.tmux("capture-pane", "-p", "-t", pane).trim();
  await eventually(() => /cat/.test(socket.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}")));
  socket.tmux("select-pane", "-d", "-t", pane);
  for (const parts of [[text("typed;")], [keys("a", "Enter")], [paste], [large], [text("b"), paste]]) {
    for (const onlyIf of [undefined, { cursor: { col: 0, row: 0 } }]) {
      await expect(server.input(pane, parts, { onlyIf })).rejects.toMatchObject({
        code: "INCONSISTENT_STATE",
        message: expect.stringContaining(`tmux select-pane -e -t ${pane}`) as unknown,
      });
    }
  }
  socket.tmux("select-pane", "-e", "-t", pane);
  await server.input(pane, [text("on again;")]);
  await eventually(() => screen().includes("on again;"));
  expect(screen()).toBe("on again;");
});
