/** A wait that types: the shell draws the line anew as often as it likes, and that is no output. */
import { expect, test, describe } from "vitest";
import { ownedApi } from "../support/daemon/ownedApi.ts";
import { editingShells, redrawnIn } from "../support/tmux/echoRedraws.ts";
import { shellsNamed } from "../support/tmux/shells.ts";

const REDRAWS = {
  "C-l": ["C-l"],
  "a list of completions": ["Tab", "Tab"],
  "another size": [],
} as const;

describe.each(shellsNamed("bash", "zsh"))("$name", ({ command }) => {
  test.each(Object.keys(REDRAWS) as (keyof typeof REDRAWS)[])("%s", async (how) => {
    await using api = await ownedApi();
    const { owned } = api;
    const { pane } = await api.session({ command, cols: 90 });
    const screen = async (): Promise<string> => (await pane.capture()).lines.join("\n");
    await pane.run("mkdir /tmp/$$; cd /tmp/$$; touch DONE1 DONE2");
    let ended: unknown;
    const text = "echo echo DONE";
    const wait = pane
      .wait({ send: { parts: [{ kind: "text", text }] }, pattern: { literal: "echo DONE" }, timeoutMs: 20_000 })
      .then(
        (answer) => (ended = answer),
        (error: unknown) => (ended = error),
      );
    await expect.poll(screen).toContain(text);
    for (let round = 0; round < 5; round += 1) {
      const before = owned.server.counters().outputBytes;
      if (how === "another size") await owned.server.resize(owned.server.sessions()[0]!.activePane!, 91 + round, 24);
      else await pane.keys([...REDRAWS[how]]);
      await expect.poll(() => owned.server.counters().outputBytes).toBeGreaterThan(before);
      await expect.poll(screen).toContain(text);
    }
    expect(ended).toBeUndefined();
    // Whatever was matched would have been told by now: the daemon responds in order.
    await pane.info();
    expect(ended).toBeUndefined();
    // What the command prints is output.
    const from = owned.server.counters().outputBytes;
    await pane.keys(["Enter"]);
    await wait;
    expect(ended).not.toBeInstanceOf(Error);
    expect(owned.server.counters().outputBytes).toBeGreaterThan(from);
    await pane.run("rm -r /tmp/$$");
  });
});

// In quantity: test/load/echoRedraw.load.test.ts.
test.each(editingShells())(
  "$name: whatever its editor draws ends no wait, what the command prints does",
  async (shell) => {
    const all = await redrawnIn(shell, 1);
    expect(all.filter((row) => row.false > 0 || row.missed > 0)).toEqual([]);
  },
);
