/** Before a prompt is typed into a shell's line: what is probed, left as it was, and waited for. */
import { expect, test } from "vitest";
import type { SubmitRequest } from "../../../../../daemon/delivery/delivery.ts";
import { DeliveryEngine } from "../../../../../daemon/delivery/deliveryEngine.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";

const PROBE = " \u0015  ";
const BACK = ["BSpace", "BSpace"];

/** A shell with a line editor, at its prompt, with a text typed into its line. */
class Shell {
  readonly pane = new FakePane("shell");
  prompt: string;
  text: string;
  /** Editors in their command mode show nothing of what is typed. */
  isDeaf = false;

  constructor(prompt: string, text: string, command = "bash") {
    this.prompt = prompt;
    this.text = text;
    this.pane.foreground = { pid: undefined, command, processes: undefined };
    Object.assign(this.pane.server, { describePane: async () => ({ title: "", command }) });
    this.pane.say("\u001b[?2004h");
    this.draw();
    this.pane.answer = ({ paste, keys }) => {
      if (this.isDeaf) return;
      if (paste === PROBE) this.text = "  ";
      else if (paste !== undefined) this.text += paste;
      else if (keys?.[0] === "BSpace") this.text = this.text.slice(0, -keys.length);
      else this.text = "";
      this.draw();
    };
  }

  draw(): void {
    const row = this.prompt + this.text;
    this.pane.draw([row], { row: 0, col: row.length });
  }

  get typed(): unknown[] {
    return this.pane.typed.map(({ paste, keys }) => paste ?? keys);
  }

  delivery = new DeliveryEngine({ readiness: this.pane.readiness, clock: this.pane.clock, nowUnixMs: () => 0 });

  submit(more: Partial<SubmitRequest> = {}, everyMs?: (nowMs: number) => void): Promise<unknown> {
    const { pane } = this;
    const request = { server: pane.server, pane: pane.pane, text: "ls", profile: "shell", timeoutMs: 20_000, ...more };
    const done = this.delivery.submit(request).then(
      ({ outcome }) => outcome,
      ({ code, details }: { code: string; details?: Record<string, unknown> }) => [
        code,
        details?.["reason"],
        details?.["box"],
      ],
    );
    return pane.during(done, everyMs);
  }
}

test.each<[string, Shell, readonly unknown[], unknown]>([
  ["an empty line behind a known sign", new Shell("$ ", ""), ["ls", ["Enter"]], "submitted"],
  ["an empty line behind a prompt of one's own", new Shell("→ here ", ""), [PROBE, BACK, "ls", ["Enter"]], "submitted"],
  ["text", new Shell("→ here ", "rm -rf "), [PROBE, BACK, "rm -rf "], ["WRONG_STATE", "box_not_empty", "rm -rf"]],
  ["text behind a known sign", new Shell("$ ", "cat"), [PROBE, BACK, "cat"], ["WRONG_STATE", "box_not_empty", "cat"]],
  ["a program whose line is not known", new Shell("→ here ", "half ", "ed"), ["ls", ["Enter"]], "submitted"],
])("%s", async (_what, shell, typed, outcome) => {
  expect([await shell.submit(), shell.typed]).toEqual([outcome, typed]);
});

test("what does not show the probe counts as empty", async () => {
  const shell = new Shell("→ here ", "");
  shell.isDeaf = true;
  const { answer } = shell.pane;
  shell.pane.answer = (typed) => {
    if (typed.paste === "ls") shell.isDeaf = false;
    answer(typed);
  };
  expect(await shell.submit()).toBe("submitted");
  expect(shell.typed).toEqual([PROBE, BACK, "ls", ["Enter"]]);
});

/** When somebody has entered the line, or emptied it. */
async function untilFree(becomesFree: (shell: Shell) => void) {
  const shell = new Shell("→ here ", "rm");
  let heldMs = Infinity;
  let freeMs = Infinity;
  const outcome = await shell.submit({ whileTyping: "wait" }, (nowMs) => {
    if (shell.typed.length < 3) return;
    heldMs = Math.min(heldMs, nowMs);
    if (freeMs !== Infinity || nowMs < heldMs + 500) return;
    freeMs = nowMs;
    becomesFree(shell);
    shell.text = "";
    shell.draw();
  });
  expect([outcome, shell.typed.slice(0, 3)]).toEqual(["submitted", [PROBE, BACK, "rm"]]);
  return { typed: shell.typed.slice(3), afterMs: shell.pane.typed[3]!.atMs - freeMs };
}

test("a line that somebody empties is taken at once: its prompt is known from the probe", async () => {
  const { typed, afterMs } = await untilFree(() => undefined);
  expect(typed).toEqual(["ls", ["Enter"]]);
  expect(afterMs).toBeLessThan(100);
});

test("the next line is probed when nobody has typed for a second", async () => {
  const { typed, afterMs } = await untilFree((shell) => {
    shell.prompt = "→ there ";
    shell.pane.say("\r\n");
  });
  expect(typed).toEqual([PROBE, BACK, "ls", ["Enter"]]);
  expect(afterMs).toBeGreaterThanOrEqual(1_000);
  expect(afterMs).toBeLessThan(1_100);
});

test("a prompt that never looks as it did is probed three times and taken for empty", async () => {
  const shell = new Shell("→ 0 ", "");
  const { answer } = shell.pane;
  shell.pane.answer = (typed) => {
    answer(typed);
    if (typed.keys?.[0] !== "BSpace") return;
    shell.pane.clock.callAt(typed.atMs + 1, () => {
      shell.prompt = `→ ${shell.typed.length} `;
      shell.pane.say("\r\n");
      shell.draw();
    });
  };
  expect(await shell.submit()).toBe("submitted");
  expect(shell.typed).toEqual([PROBE, BACK, PROBE, BACK, PROBE, BACK, "ls", ["Enter"]]);
});

test("a daemon that stops during a probe waits until the line is as it was", async () => {
  const shell = new Shell("→ here ", "rm");
  const { answer } = shell.pane;
  shell.pane.answer = (typed) => {
    if (typed.paste === PROBE) shell.delivery.stop();
    // It takes its time.
    shell.pane.clock.callAt(typed.atMs + 50, () => answer(typed));
  };
  expect((await shell.submit()) as unknown[]).toMatchObject(["WRONG_STATE", "box_not_empty", "rm"]);
  expect(shell.typed).toEqual([PROBE, BACK, "rm"]);
});

test("nothing is probed for a caller who has left", async () => {
  const shell = new Shell("→ here ", "rm");
  const left = new AbortController();
  shell.pane.afterCapture = () => left.abort(new Error("left"));
  await expect(shell.submit({ signal: left.signal })).resolves.toEqual([undefined, undefined, undefined]);
  // What was under way has come to its end.
  expect(await shell.pane.during(shell.delivery.drain(1_000))).toBe(0);
  expect(shell.typed).toEqual([]);
});
