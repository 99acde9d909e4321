/**
 * The page as the device that others change: what a command of the command line does to it, and what the person sees. Which
 * requests reach an owner, and what a command does to a layout, other tests show without a page.
 */
import { afterEach, describe, expect, test } from "vitest";
import type { TerminalEntry } from "../../protocol/api/freshell/freshellHttp.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { pageOwner } from "../support/page/pageOwner.ts";

const owner = pageOwner();

const refusedBy = (code: string, stage: "owner" | "relay"): object => ({ ok: false, error: { code, stage } });

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

describe.skipIf(NO_BROWSER !== undefined)("the page shows what another device changes", () => {
  test("F041 F046 rename-tab shows a title with colons, blanks and markup unchanged", async () => {
    await owner().tab("a:b c");
    const title = "100% \u05D0\u202E<b>x</b>";
    await owner().change("rename-tab", "--target", "tab-name:a:b c", title);
    expect([(await owner().shown()).tabs, await owner().page.title()]).toEqual([[`${title} *`], `${title} · Freshell`]);
  });

  test("F052 F053 F057 F058 panes are where they were split, resized and swapped to, and start no process", async () => {
    const { pane, paneId } = await owner().tab("split");
    const url = `${owner().site.url}one`;
    const split = { target: pane, picker: true };
    const { paneId: beside } = await owner().done("split-pane", { ...split, direction: "horizontal" });
    const { paneId: below } = await owner().done("split-pane", { ...split, direction: "vertical" });
    await owner().change("resize-pane", "--target", pane, "-x", "30", "-y", "20");
    await owner().done("open-browser", { target: `pane:${beside}`, url });
    expect((await owner().shown()).panes).toEqual({
      [paneId]: "0 0 30 20 picker",
      [below]: "0 20 30 80 picker *",
      [beside]: `30 0 70 100 browser ${url}`,
    });
    await owner().page.frameLocator("iframe").getByText("the page at /one").waitFor();
    const dividers = owner().page.getByRole("separator");
    const shares = await dividers.evaluateAll((all) => all.map((one) => one.getAttribute("aria-valuenow")));
    expect(shares).toEqual(["30", "20"]);
    await owner().done("swap-pane", { source: pane, target: `pane:${beside}` });
    expect((await owner().shown()).panes).toMatchObject({
      [beside]: `0 0 30 20 browser ${url}`,
      [paneId]: "30 0 70 100 picker",
    });
    expect(await owner().terminalIds()).toEqual([]);
  });

  test("F059 select-pane and split-pane end the zoom of another pane", async () => {
    const { pane, paneId, second } = await owner().pair();
    const { page } = owner();
    await page.getByRole("button", { name: "Zoom" }).last().click();
    expect((await owner().shown()).panes[paneId]).toBe("hidden picker");
    await owner().done("select-pane", { target: pane });
    expect((await owner().shown()).panes).toEqual({
      [paneId]: "0 0 50 100 picker *",
      [second]: "50 0 50 100 picker",
    });
    await page.getByRole("button", { name: "Zoom" }).first().click();
    const { paneId: below } = await owner().done("split-pane", { target: pane, direction: "vertical", editor: "/f" });
    expect((await owner().shown()).panes[below]).toBe("0 50 50 50 editor /f *");
  });

  test("F060 F061 F063 navigate and open-editor replace what the pane shows", async () => {
    const { pane, paneId } = await owner().tab("web");
    const { page, site } = owner();
    await owner().done("open-browser", { target: pane, url: `${site.url}one` });
    await page.frameLocator("iframe").getByText("the page at /one").waitFor();
    await owner().change("navigate", "--target", pane, `${site.url}two`);
    await page.frameLocator("iframe").getByText("the page at /two").waitFor();
    expect(await page.getByRole("textbox", { name: "Address" }).inputValue()).toBe(`${site.url}two`);
    await owner().done("open-editor", { target: pane, filePath: "/tmp/notes" });
    expect((await owner().shown()).panes).toEqual({ [paneId]: "0 0 100 100 editor /tmp/notes *" });
  });
});

describe.skipIf(NO_BROWSER !== undefined)("the page shows terminals that another device opens", () => {
  test("F089 split-pane changes the page only once the terminal runs", async () => {
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

  test("F089 F092 a reserved place survives the person's changes, unless its pane is closed", async () => {
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

  test("F096 attach-terminal shows the terminal with its earlier output, and no process moves", async () => {
    const { paneId, terminalId: first } = await owner().done("new-tab", { title: "one" });
    const { terminalId } = await owner().done("new-tab", { title: "two" });
    await prints(terminalId, "moved");
    const pids = [(await entry(first))?.pid, (await entry(terminalId))?.pid];
    await owner().change("attach-terminal", "--target", `terminal:${terminalId}`, "--to", `pane:${paneId}`);
    await owner().done("select-tab", { target: "tab-name:one" });
    expect((await owner().shown()).panes).toEqual({ [paneId]: `0 0 100 100 terminal ${terminalId} *` });
    // What it has printed before is there, in both of the panes that show it.
    await screen(terminalId).filter({ visible: true }).getByText("moved-42").first().waitFor();
    expect([(await entry(first))?.pid, (await entry(terminalId))?.pid]).toEqual(pids);
  });

  test("F056 F096 the page logs no error when terminals come and go faster than it draws them", async () => {
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

  test("F101 respawn-pane clears the screen, also of a program that has ended", async () => {
    const { paneId, terminalId } = await owner().done("new-tab", { title: "shell" });
    await prints(terminalId, "before");
    await owner().change("respawn-pane", "--target", `pane:${paneId}`);
    await prints(terminalId, "after");
    expect(await screen(terminalId).getByText("before-42").count()).toBe(0);
    await owner().rpc("send-keys", { target: `pane:${paneId}`, keys: ["exit 3", "Enter"] });
    await owner().page.getByText("The program has ended (3).").waitFor();
    await owner().done("respawn-pane", { target: `pane:${paneId}` });
    await prints(terminalId, "again");
    expect(await owner().page.getByText("The program has ended").count()).toBe(0);
  });
});

describe.skipIf(NO_BROWSER !== undefined)("what the page refuses", () => {
  afterEach(() => owner().allow("*"));

  test("a full storage refuses every change, and reports the terminal that was made for it", async () => {
    const { tab, pane } = await owner().tab("full");
    const { page } = owner();
    const fill =
      'for (let size = 4194304; size >= 1; size /= 2) try { localStorage.setItem("fill" + size, "x".repeat(size)) } catch {}';
    const before = await owner().shown();
    await page.evaluate(fill);
    const refused = await owner().rpc("rename-tab", { target: tab, title: "a longer title than the one before it" });
    expect(refused).toMatchObject({ status: 500, ...refusedBy("INTERNAL_ERROR", "owner") });
    const lost = await owner().rpc("split-pane", { target: pane, direction: "vertical" });
    expect(lost).toMatchObject({ status: 409, ...refusedBy("INCONSISTENT_STATE", "owner") });
    expect([await owner().shown(), (await owner().layout()).workspaceRevision]).toEqual([before, before.revision]);
    expect(await owner().daemon.terminals()).toMatchObject([{ orphan: true, status: "running" }]);
    await page.evaluate(
      'Object.keys(localStorage).filter((key) => key.startsWith("fill")).forEach((key) => localStorage.removeItem(key))',
    );
    expect(await owner().rpc("rename-tab", { target: tab, title: "room" })).toMatchObject({ ok: true });
    expect((await owner().shown()).tabs).toEqual(["room *"]);
  });

  test("F198 the settings decide who may change the layout, also after a reload", async () => {
    const { tab } = await owner().tab("mine");
    const session = { deviceId: "phone", deviceLabel: "label of phone", deviceType: "cli" };
    await owner().daemon.call("POST", "/api/device-sessions", session);
    const rename = () => owner().rpc("rename-tab", { target: tab, title: "theirs" }, { callerDeviceId: "phone" });
    await owner().allow();
    owner().asked.length = 0;
    expect(await rename()).toMatchObject({ status: 401, ...refusedBy("UNAUTHORIZED", "relay") });
    expect(owner().asked).toEqual([]);
    await owner().allow("phone");
    expect(await rename()).toMatchObject({ ok: true });
    await owner().page.getByText("renamed the tab “mine” to “theirs”").first().waitFor();
    await owner().page.reload();
    await owner().isBack();
    expect(await rename()).toMatchObject({ ok: true });
    await owner().allowNobody("phone");
    expect(await rename()).toMatchObject({ status: 401 });
  });
});
