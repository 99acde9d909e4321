/** docs/contracts/addin.md §2–§4 on the stub, and what is the stub's own ("Stub mode"). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AddinClient } from "../support/daemon/addinClient.ts";
import { addinRows } from "../support/daemon/addinRows.ts";
import { addinOn, type AddinOn, stubBackend } from "../support/daemon/backends.ts";

addinRows(stubBackend);

describe("stub mode", () => {
  let on: AddinOn;
  let client: AddinClient;
  const session = "s";

  beforeEach(async () => {
    on = await addinOn(stubBackend);
    ({ client } = on);
    await client.tmux({ action: "create_session", session });
  });

  afterEach(() => on[Symbol.asyncDispose]());

  const outputOf = async (lines?: number): Promise<unknown> =>
    (await client.tmux({ action: "capture_pane", session, lines })).json["output"];

  test("one line per send: text, then <Key> for each key, then <Enter>", async () => {
    await client.tmux({ action: "send_keys", session, text: "echo hi", keys: ["C-c", " Up "], enter: true });
    await client.tmux({ action: "send_keys", session, keys: ["Enter"] });
    await client.tmux({ action: "send_keys", session, enter: true });
    await client.tmux({ action: "send_keys", session, text: "tail" });
    expect(await outputOf()).toBe("echo hi <C-c> <Up> <Enter>\n<Enter>\n<Enter>\ntail");
  });

  test("A4 every character arrives exactly", async () => {
    const texts = [
      "trailing;",
      "-foo",
      "  leading and trailing  ",
      "tab\tand 'quotes' \"$(x)\" #(y) %end",
      "é😀\u200d",
    ];
    for (const text of texts) await client.tmux({ action: "send_keys", session, text });
    expect(await outputOf()).toBe(texts.join("\n"));
  });

  test("A8 a capture is the exact last N lines; 200 without lines", async () => {
    for (let line = 1; line <= 250; line++) await client.tmux({ action: "send_keys", session, text: `l${line}` });
    expect(await outputOf(3)).toBe("l248\nl249\nl250");
    expect(await outputOf()).toMatch(/^l51\n.*\nl250$/s);
  });

  test("an empty pane captures as nothing", async () => {
    expect(await outputOf()).toBe("");
  });

  test("wait_for matches the sent line, which counts as output in the stub", async () => {
    const request = { action: "send_and_capture", session, text: "needle", wait_for: "needle", timeout_ms: 100 };
    expect((await client.tmux(request)).status).toBe(200);
  });
});
