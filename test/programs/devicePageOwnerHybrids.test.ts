/**
 * The commands of panes with a process (seed 002 §6.4), typed at a command line, with the page as the device that owns them:
 * what is made, in which order, what the page shows of it, and that what fails leaves neither a pane nor a process.
 */
import { describe, expect, test } from "vitest";
import type { PaneList } from "../../adapters/freshell/cli/deviceCalls.ts";
import type { FreshellWaitResponse, TerminalEntry } from "../../protocol/api/freshell/freshellHttp.ts";
import { FAKE_CLAUDE } from "../support/freshell/agentScene.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { pageOwner } from "../support/page/pageOwner.ts";

const owner = pageOwner({ CLAUDE_CMD: FAKE_CLAUDE });

const INVALID = { exitCode: 2, code: "INVALID_ARGUMENT" };
const WRONG_TARGET = { exitCode: 4, code: "INVALID_TARGET" };
const ABSENT = { exitCode: 3, code: "NOT_FOUND" };
const NOWHERE = "x".repeat(21);

const phases = (): readonly string[] => owner().asked.map(({ phase }) => phase);
const screen = (terminalId: string) => owner().page.locator(`[data-terminal="${terminalId}"]`);
const entry = async (id: string): Promise<TerminalEntry | undefined> =>
  (await owner().daemon.terminals()).find(({ terminalId }) => terminalId === id);

/** What a terminal prints that is told to: not what is typed. */
async function prints(terminalId: string, word: string): Promise<void> {
  const { json } = await owner().daemon.call("POST", `/api/terminals/${terminalId}/input`, {
    data: `echo ${word}-$((40+2))\r`,
  });
  expect(json).toMatchObject({ outputSeq: expect.any(Number) as unknown });
  await screen(terminalId).getByText(`${word}-42`).first().waitFor();
}

describe.skipIf(NO_BROWSER !== undefined)("commands of panes with a process, with the page as their owner", () => {
  test("F047 F048 new-tab -n --cwd: titled, shown, in that directory", async () => {
    const directory = owner().scene.sandbox.path("tmp");
    const { tabId, paneId, terminalId } = await owner().change("new-tab", "-n", "build", "--cwd", directory);
    expect(await owner().shown()).toMatchObject({
      tabs: ["build *"],
      panes: { [paneId]: `0 0 100 100 terminal ${terminalId} *` },
    });
    expect(await entry(terminalId)).toMatchObject({ status: "running", cwd: directory });
    expect(await entry(terminalId)).not.toHaveProperty("orphan");
    const { panes } = await owner().data<PaneList>("list-panes", "--tab", `tab:${tabId}`);
    expect(panes).toMatchObject([{ id: paneId, kind: "terminal", contentRef: { terminalId } }]);
    await owner().page.getByText("opened the tab “build”").first().waitFor();
  });

  test("F048 F091 new-tab and split-pane with a directory or a shell that is not there: all as before", async () => {
    const { pane } = await owner().tab("before");
    owner().asked.length = 0;
    expect(await owner().refusal("new-tab", "--cwd", "/nowhere")).toMatchObject(INVALID);
    const split = ["split-pane", "--target", pane, "--direction", "vertical"] as const;
    expect(await owner().refusal(...split, "--shell", "/no/shell")).toMatchObject(INVALID);
    expect(phases().filter((phase) => phase !== "read")).toEqual(["reserve", "compensate", "reserve", "compensate"]);
  });

  test("F089 split-pane --shell: a place that nobody sees, then the terminal, then both", async () => {
    const { pane, paneId } = await owner().tab("split");
    const before = await owner().shown();
    const seen: unknown[] = [];
    owner().watch = async (from, { type, phase }) => {
      if (from !== "server" || type !== "layout.rpc.request" || phase === "read") return true;
      seen.push([phase, (await owner().terminalIds()).length, await owner().shown()]);
      return true;
    };
    const made = await owner().change("split-pane", "--target", pane, "--direction", "horizontal", "--shell");
    expect(seen).toEqual([
      ["reserve", 0, before],
      ["finalize", 1, before],
    ]);
    expect((await owner().shown()).panes).toEqual({
      [paneId]: "0 0 50 100 picker",
      [made.paneId]: `50 0 50 100 terminal ${made.terminalId} *`,
    });
    expect(owner().asked.at(-1)).toMatchObject({ args: { contentRef: { terminalId: made.terminalId } } });
    await prints(made.terminalId, "split");
  });

  test("F089 F092 the person changes the layout while the terminal is made: the place holds, unless it is gone", async () => {
    const { pane, paneId } = await owner().tab("mine");
    const { page } = owner();
    for (const isGone of [false, true]) {
      owner().watch = async (from, { phase }) => {
        if (from === "client" || phase !== "finalize") return true;
        if (isGone) await page.locator(`[data-pane="${paneId}"]`).getByLabel("Close the pane").click();
        else await page.getByRole("button", { name: "New tab" }).click();
        return true;
      };
      const { revision } = await owner().shown();
      const answer = await owner().rpc("split-pane", { target: pane, direction: "horizontal" });
      // The pane is chosen before it is closed; the new tab is followed by the new pane.
      expect((await owner().shown()).revision).toBe(revision + 2);
      if (answer.ok) expect([isGone, answer.appliedRevision]).toEqual([false, revision + 2]);
      else
        expect([isGone, answer.error]).toMatchObject([
          true,
          { code: "INCONSISTENT_STATE", details: { cause: "NOT_FOUND" } },
        ]);
      await owner().done("select-tab", { target: "tab-name:mine" });
    }
    // One is in its pane, the other has none.
    const [shown, lost] = await owner().daemon.terminals();
    expect([shown?.orphan, lost?.orphan, lost?.status]).toEqual([undefined, true, "running"]);
    expect(Object.values((await owner().shown()).panes)).toEqual([`0 0 100 100 terminal ${shown?.terminalId} *`]);
  });

  test("F096 F099 F100 attach-terminal: the pane shows it, and no process moves", async () => {
    const { paneId, terminalId: first } = await owner().done("new-tab", { title: "one" });
    const { terminalId } = await owner().done("new-tab", { title: "two" });
    await prints(terminalId, "moved");
    const pids = [(await entry(first))?.pid, (await entry(terminalId))?.pid];
    const attach = ["attach-terminal", "--target", `terminal:${terminalId}`] as const;
    const made = await owner().change(...attach, "--to", "pane-index:0", "--tab", "tab-name:one");
    expect(made).toMatchObject({ paneId, terminalId, detachedTerminals: [first] });
    await owner().done("select-tab", { target: "tab-name:one" });
    expect((await owner().shown()).panes).toEqual({ [paneId]: `0 0 100 100 terminal ${terminalId} *` });
    // What it has printed before is there, in both of the panes that show it.
    await screen(terminalId).filter({ visible: true }).getByText("moved-42").first().waitFor();
    expect([(await entry(first))?.pid, (await entry(terminalId))?.pid]).toEqual(pids);
    expect(await owner().refusal(...attach, "--to", "pane-index:0")).toMatchObject(INVALID);
    const { length } = owner().asked.filter(({ phase }) => phase === "reserve");
    const absent = ["attach-terminal", "--target", `terminal:${NOWHERE}`, "--to", `pane:${paneId}`];
    expect(await owner().refusal(absent[0]!, ...absent.slice(1))).toMatchObject(ABSENT);
    expect(owner().asked.filter(({ phase }) => phase === "reserve")).toHaveLength(length);
  });

  test("F056 F096 terminals that come and go faster than they are drawn: the page goes on without a word", async () => {
    const { terminalId } = await owner().done("new-tab", { title: "kept" });
    for (let count = 0; count < 5; count += 1) {
      const { pane } = await owner().tab("brief");
      const split = await owner().done("split-pane", { target: pane, direction: "vertical" });
      await owner().done("attach-terminal", { target: `terminal:${terminalId}`, to: `pane:${split.paneId}` });
      await owner().done("kill-tab", { target: "tab-name:brief" });
    }
    await prints(terminalId, "kept");
    expect((await owner().shown()).tabs).toEqual(["kept *"]);
  });

  test("F101 respawn-pane: another process under the same id, of one that has ended too", async () => {
    const { paneId, terminalId } = await owner().done("new-tab", { title: "shell" });
    await prints(terminalId, "before");
    const first = (await entry(terminalId))?.pid;
    owner().asked.length = 0;
    const made = await owner().change("respawn-pane", "--target", `pane:${paneId}`);
    expect([made.terminalId, made.paneId]).toEqual([terminalId, paneId]);
    expect(phases().filter((phase) => phase !== "read")).toEqual(["resolve", "reserve", "finalize"]);
    const second = (await entry(terminalId))?.pid;
    expect(second).not.toBe(first);
    await prints(terminalId, "after");
    expect(await screen(terminalId).getByText("before-42").count()).toBe(0);
    await owner().rpc("send-keys", { target: `pane:${paneId}`, keys: ["exit 3", "Enter"] });
    await owner().page.getByText("The program has ended (3).").waitFor();
    await owner().done("respawn-pane", { target: "pane-index:0", tab: "tab-name:shell" });
    await prints(terminalId, "again");
    expect(await owner().page.getByText("The program has ended").count()).toBe(0);
  });

  test("F093 send-keys, wait-for, capture-pane by pane and by place: resolved once each", async () => {
    const { pane } = await owner().tab("a:b c");
    const { paneId, terminalId } = await owner().done("split-pane", { target: pane, direction: "vertical" });
    const before = await owner().layout();
    owner().asked.length = 0;
    const at = ["--target", "pane-index:1", "--tab", "tab-name:a:b c"] as const;
    const wait = owner().data<FreshellWaitResponse>("wait-for", ...at, "-p", "made-42", "--from", "tail:50");
    await owner().data("send-keys", "--target", `pane:${paneId}`, "echo made-$((40+2))", "Enter");
    expect((await wait).matched).toMatchObject([{ predicate: "pattern", text: "made-42" }]);
    const { lines } = await owner().data<{ lines: readonly string[] }>("capture-pane", ...at, "-S", "-", "-J");
    expect(lines.map((line) => line.trimEnd())).toContain("made-42");
    await screen(terminalId).getByText("made-42").first().waitFor();
    const resolve = { phase: "resolve", command: "resolve" };
    expect(owner().asked).toMatchObject([resolve, resolve, resolve]);
    const { workspaceRevision, snapshot } = await owner().layout();
    expect([workspaceRevision, snapshot]).toEqual([before.workspaceRevision, before.snapshot]);
  });

  test("F077 F094 F095 panes that are not there, show no terminal, or one that is no more", async () => {
    const { pane } = await owner().tab("web");
    const { paneId, terminalId } = await owner().done("new-tab", { title: "shell" });
    for (const [target, refused] of [
      [pane, WRONG_TARGET],
      ["pane:nowhere", ABSENT],
    ] as const) {
      expect(await owner().refusal("send-keys", "--target", target, "x")).toMatchObject(refused);
      for (const [command, more] of [["capture-pane"], ["wait-for", { exit: true }], ["respawn-pane"]] as const) {
        expect(await owner().rpc(command, { target, ...more })).toMatchObject({ error: { code: refused.code } });
      }
    }
    await owner().scene.data("kill-terminal", "--target", `terminal:${terminalId}`);
    await owner().page.getByText("This terminal no longer exists.").waitFor();
    expect(await owner().refusal("send-keys", "--target", `pane:${paneId}`, "x")).toMatchObject(ABSENT);
    expect(await owner().refusal("respawn-pane", "--target", `pane:${paneId}`)).toMatchObject(ABSENT);
  });

  test("F014 kill-pane and kill-tab leave the processes running, and say which nobody shows", async () => {
    const { tabId, paneId, terminalId } = await owner().done("new-tab", { title: "build" });
    const beside = await owner().done("split-pane", { target: `pane:${paneId}`, direction: "horizontal" });
    const killed = await owner().change("kill-pane", "--target", `pane:${beside.paneId}`);
    expect(killed.detachedTerminals).toEqual([beside.terminalId]);
    expect((await owner().change("kill-tab", "--target", `tab:${tabId}`)).detachedTerminals).toEqual([terminalId]);
    expect((await owner().daemon.terminals()).map(({ status, orphan }) => [status, orphan])).toEqual([
      ["running", undefined],
      ["running", undefined],
    ]);
  });

  test("F103 wait-for on a pane with a conversation: what the agent says; keys are not for it", async () => {
    const { pane } = await owner().tab("talk");
    const { page } = owner();
    await page.getByRole("button", { name: "Conversation with Claude" }).click();
    await page.getByLabel("Message").waitFor();
    const wait = owner().data<FreshellWaitResponse>(
      "wait-for",
      "--target",
      pane,
      "-p",
      "said aloud",
      "--from",
      "tail:50",
    );
    await page.getByLabel("Message").fill("echo this is said aloud");
    await page.keyboard.press("Enter");
    expect((await wait).matched).toMatchObject([{ predicate: "pattern", text: "said aloud" }]);
    const { code, exitCode } = await owner().scene.refusal(
      "send-keys",
      "--device",
      owner().deviceId,
      "--target",
      pane,
      "x",
    );
    expect({ code, exitCode }).toEqual(WRONG_TARGET);
  });
});
