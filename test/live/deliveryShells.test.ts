/** Prompts to shells and to programs that are nobody's agent, on real tmux. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { type Engines, engines, untilState } from "../support/agents/deliveryScene.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { seen } from "../support/tmux/output.ts";

async function paneWith(server: TmuxServer, command: readonly string[]) {
  const { activePane: pane } = await server.createSession({ name: "p", command, cols: 80, rows: 24 });
  if (pane === undefined) throw new Error("no pane");
  return { server, pane };
}

async function atPrompt(target: Awaited<ReturnType<typeof paneWith>>, on: Engines) {
  const watched = on.readiness.watch(target.server, target.pane);
  await untilState(watched, "idle");
  return watched;
}

const BASH = ["bash", "--norc", "--noprofile", "-i"];

describe("a shell", () => {
  test.each([
    ["bash", BASH, "echo sub\\mitted; true", "submitted"],
    ["bash, several lines", BASH, "for i in 1 2; do\n\techo t$i\ndone", "t2"],
    ["bash, a long line", BASH, `echo ${"word ".repeat(60)}en\\d`, "end"],
    ["sh", ["sh", "-i"], "echo sub\\mitted", "submitted"],
  ])("%s", async (_name, command, text, printed) => {
    await using fixture = await ownedFixture();
    using on = engines();
    const target = await paneWith(fixture.server, command);
    using watched = await atPrompt(target, on);
    const source = fixture.server.output(target.pane);
    const from = source.outputSeq;
    const result = await on.delivery.submit({ ...target, text });
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(watched.current.profile).toBe("shell");
    await seen(source, from, printed);
    expect(on.errors).toEqual([]);
  });

  test("that ends with the command took it", async () => {
    await using fixture = await ownedFixture();
    using on = engines();
    const target = await paneWith(fixture.server, BASH);
    using watched = await atPrompt(target, on);
    expect(watched.current.profile).toBe("shell");
    expect(await on.delivery.submit({ ...target, text: "exit" })).toMatchObject({ outcome: "submitted" });
  });

  test("that reads a password shows nothing: no Enter", async () => {
    await using fixture = await ownedFixture();
    using on = engines();
    const target = await paneWith(fixture.server, [
      "sh",
      "-c",
      "stty -echo; printf 'waiting;'; read -r line; echo got",
    ]);
    const source = fixture.server.output(target.pane);
    await seen(source, 0, "waiting;");
    const from = source.outputSeq;
    const result = await on.delivery.submit({ ...target, text: "secret" });
    expect(result).toMatchObject({ outcome: "not_echoed", enterPresses: 0 });
    expect(source.outputSeq).toBe(from);
  });
});

describe("any other program", () => {
  const directory = mkdtempSync(join(tmpdir(), "tmuxwire-"));

  test("gets a line, and is not given several", async () => {
    await using fixture = await ownedFixture();
    using on = engines();
    const file = join(directory, "lines");
    const target = await paneWith(fixture.server, [
      "sh",
      "-c",
      'printf "ready;"; while read -r line; do echo "$line" >>"$0"; echo "<ok>"; done',
      file,
    ]);
    await seen(fixture.server.output(target.pane), 0, "ready;");
    const text = '-n it\'s; a "line";';
    const result = await on.delivery.submit({ ...target, text, profile: "generic" });
    expect(result).toMatchObject({ outcome: "submitted", confirmedBy: "output" });
    await seen(fixture.server.output(target.pane), result.position?.outputSeq ?? 0, "<ok>");
    expect(readFileSync(file, "utf8")).toBe(`${text}\n`);
    await expect(on.delivery.submit({ ...target, text: "a\nb", profile: "generic" })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      details: { bracketedPaste: "unknown" },
    });
    expect(readFileSync(file, "utf8")).toBe(`${text}\n`);
    rmSync(directory, { recursive: true });
  });

  test("has taken a line that takes several rows, too", async () => {
    await using fixture = await ownedFixture();
    using on = engines();
    const target = await paneWith(fixture.server, [process.execPath, "-i"]);
    using watched = await atPrompt(target, on);
    expect(watched.current.profile).toBe("generic");
    const from = fixture.server.output(target.pane).outputSeq;
    const text = `"${"word ".repeat(40)}".length + ${"0 + ".repeat(10)}1000`;
    expect(await on.delivery.submit({ ...target, text, profile: "generic" })).toMatchObject({ outcome: "submitted" });
    await seen(fixture.server.output(target.pane), from, "1200");
  });
});
