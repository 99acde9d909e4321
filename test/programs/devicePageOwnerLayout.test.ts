/**
 * The commands of a layout alone (seed 002 §6.1), typed at a command line, with the page as the device that owns it: what the
 * command answers, and what the person at the page sees. Each is one revision; what is refused changes nothing.
 */
import { describe, expect, test } from "vitest";
import type { PaneList, TabList } from "../../adapters/freshell/cli/deviceCalls.ts";
import type { DeviceEntry } from "../../protocol/api/freshell/rpc.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { pageOwner } from "../support/page/pageOwner.ts";

const owner = pageOwner();

const INVALID = { exitCode: 2, code: "INVALID_ARGUMENT" };
const WRONG_TARGET = { exitCode: 4, code: "INVALID_TARGET" };
const ABSENT = { exitCode: 3, code: "NOT_FOUND" };

describe.skipIf(NO_BROWSER !== undefined)("commands of a layout, with the page as its owner", () => {
  test("F034 F035 F036 F051 select-tab by id, name and index: that tab's panes are shown", async () => {
    const [one, , three] = [await owner().tab("one"), await owner().tab("two"), await owner().tab("three")];
    await owner().change("select-tab", "--target", one.tab);
    expect(await owner().shown()).toMatchObject({
      tabs: ["one *", "two", "three"],
      panes: { [one.paneId]: "0 0 100 100 picker *" },
    });
    await owner().done("select-tab", { target: "tab-name:two" });
    await owner().change("select-tab", "--target", "tab-index:2");
    expect(await owner().shown()).toMatchObject({
      tabs: ["one", "two", "three *"],
      panes: { [three.paneId]: "0 0 100 100 picker *" },
    });
    expect(await owner().refusal("select-tab", "--target", "tab-index:3")).toMatchObject(ABSENT);
    expect(await owner().rpc("select-tab", { target: "tab-name:none" })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
  });

  test("F041 F046 F050 rename-tab: a name of colons, blanks and signs is shown as it is", async () => {
    await owner().tab("a:b c");
    const title = "100% \u05D0\u202E<b>x</b>";
    await owner().change("rename-tab", "--target", "tab-name:a:b c", title);
    expect((await owner().shown()).tabs).toEqual([`${title} *`]);
    expect(await owner().page.title()).toBe(`${title} · Freshell`);
    await owner().done("rename-tab", { target: `tab-name:${title}`, title: "plain" });
    expect((await owner().shown()).tabs).toEqual(["plain *"]);
    expect(await owner().refusal("rename-tab", "--target", "tab-name:plain", "")).toMatchObject(INVALID);
  });

  test("F049 kill-tab: it is gone, its neighbour on the left is shown; again it is NOT_FOUND", async () => {
    const [one, two] = [await owner().tab("one"), await owner().tab("two"), await owner().tab("three")];
    await owner().done("select-tab", { target: two.tab });
    await owner().change("kill-tab", "--target", two.tab);
    expect(await owner().shown()).toMatchObject({
      tabs: ["one *", "three"],
      panes: { [one.paneId]: "0 0 100 100 picker *" },
    });
    expect(await owner().refusal("kill-tab", "--target", two.tab)).toMatchObject(ABSENT);
    for (const target of ["tab-index:1", "tab-index:0"]) await owner().done("kill-tab", { target });
    await owner().page.getByText("No tabs.").waitFor();
  });

  test("F037 F052 F053 F054 split-pane --browser beside, --editor below: shown there, no process made", async () => {
    const { pane, paneId } = await owner().tab("split");
    const [url, file] = [`${owner().site.url}one`, owner().scene.sandbox.path("notes")];
    const browser = await owner().change("split-pane", "--target", pane, "--direction", "horizontal", "--browser", url);
    const editor = await owner().change("split-pane", "--target", pane, "--direction", "vertical", "--editor", file);
    expect((await owner().shown()).panes).toEqual({
      [paneId]: "0 0 50 50 picker",
      [editor.paneId]: `0 50 50 50 editor ${file} *`,
      [browser.paneId]: `50 0 50 100 browser ${url}`,
    });
    await owner().page.frameLocator("iframe").getByText("the page at /one").waitFor();
    expect(await owner().terminalIds()).toEqual([]);
    const { panes } = await owner().data<PaneList>("list-panes");
    expect(panes.map(({ id, kind }) => [id, kind])).toEqual([
      [paneId, "picker"],
      [editor.paneId, "editor"],
      [browser.paneId, "browser"],
    ]);
  });

  test("F054 F055 split-pane without a direction, with two contents: refused", async () => {
    const { pane } = await owner().tab("split");
    const split = ["split-pane", "--target", pane] as const;
    expect(await owner().refusal(...split, "--editor", "/f")).toMatchObject(INVALID);
    const both = ["--direction", "vertical", "--editor", "/f"];
    expect(await owner().refusal(...split, ...both, "--browser", "http://h/")).toMatchObject(INVALID);
  });

  test("F038 F056 kill-pane by index: the sibling has its place; a tab's last pane takes the tab along", async () => {
    await owner().tab("stays");
    const { tab: id, paneId, second } = await owner().pair();
    expect(await owner().refusal("kill-pane", "--target", "pane-index:0")).toMatchObject(INVALID);
    expect(await owner().rpc("kill-pane", { target: "pane-index:2", tab: id })).toMatchObject({
      error: { code: "NOT_FOUND" },
    });
    await owner().change("kill-pane", "--target", "pane-index:1", "--tab", "tab-name:pair");
    expect((await owner().shown()).panes).toEqual({ [paneId]: "0 0 100 100 picker *" });
    await owner().done("kill-pane", { target: `pane:${paneId}` });
    expect((await owner().shown()).tabs).toEqual(["stays *"]);
    expect(await owner().refusal("kill-pane", "--target", `pane:${second}`)).toMatchObject(ABSENT);
  });

  test("F057 resize-pane -x -y: the dividers move; no axis, none such and no percent are refused", async () => {
    const { pane, paneId, second } = await owner().pair();
    const { paneId: below } = await owner().done("split-pane", { target: pane, direction: "vertical", picker: true });
    await owner().change("resize-pane", "--target", pane, "-x", "30", "-y", "20");
    expect((await owner().shown()).panes).toEqual({
      [paneId]: "0 0 30 20 picker",
      [below]: "0 20 30 80 picker *",
      [second]: "30 0 70 100 picker",
    });
    const dividers = owner().page.getByRole("separator");
    expect(await dividers.evaluateAll((all) => all.map((one) => one.getAttribute("aria-valuenow")))).toEqual([
      "30",
      "20",
    ]);
    // The second child's share is the rest of it.
    await owner().done("resize-pane", { target: `pane:${second}`, x: 99 });
    expect((await owner().shown()).panes[second]).toBe("1 0 99 100 picker");
    const resize = ["resize-pane", "--target", `pane:${second}`] as const;
    expect(await owner().refusal(...resize)).toMatchObject(INVALID);
    expect(await owner().refusal(...resize, "-y", "10")).toMatchObject(WRONG_TARGET);
    expect(await owner().refusal(...resize, "-x", "100")).toMatchObject(INVALID);
  });

  test("F058 swap-pane by id and by index: they change places with what is in them", async () => {
    const { tab: id, pane, paneId, second } = await owner().pair();
    await owner().done("open-editor", { target: pane, filePath: "/notes" });
    await owner().change("swap-pane", "--source", pane, "--target", `pane:${second}`);
    const swapped = { [second]: "0 0 50 100 picker *", [paneId]: "50 0 50 100 editor /notes" };
    expect((await owner().shown()).panes).toEqual(swapped);
    await owner().change("swap-pane", "--source", "pane-index:0", "--target", "pane-index:1", "--tab", id);
    expect((await owner().shown()).panes[paneId]).toBe("0 0 50 100 editor /notes");
    expect(await owner().refusal("swap-pane", "--source", pane, "--target", pane)).toMatchObject(WRONG_TARGET);
  });

  test("F059 select-pane: it is active, and its tab is shown", async () => {
    const { pane, paneId, second } = await owner().pair();
    await owner().tab("other");
    await owner().change("select-pane", "--target", pane);
    expect(await owner().shown()).toMatchObject({
      tabs: ["pair *", "other"],
      panes: { [paneId]: "0 0 50 100 picker *", [second]: "50 0 50 100 picker" },
    });
  });

  test("F059 select-pane and split-pane while another pane fills the tab: what is chosen is seen", async () => {
    const { pane, paneId, second } = await owner().pair();
    const { page } = owner();
    await page.getByRole("button", { name: "Zoom" }).last().click();
    expect((await owner().shown()).panes[paneId]).toBe("hidden picker");
    await owner().change("select-pane", "--target", pane);
    expect((await owner().shown()).panes).toEqual({
      [paneId]: "0 0 50 100 picker *",
      [second]: "50 0 50 100 picker",
    });
    await page.getByRole("button", { name: "Zoom" }).first().click();
    const { paneId: below } = await owner().done("split-pane", { target: pane, direction: "vertical", editor: "/f" });
    expect((await owner().shown()).panes[below]).toBe("0 50 50 50 editor /f *");
  });

  test("F060 F061 F062 F063 open-browser, navigate, open-editor: the pane shows it", async () => {
    const { pane, paneId } = await owner().tab("web");
    const [one, two] = [`${owner().site.url}one`, `${owner().site.url}two`];
    const { page } = owner();
    expect(await owner().refusal("navigate", "--target", pane, one)).toMatchObject(WRONG_TARGET);
    await owner().change("open-browser", "--target", pane, one);
    await page.frameLocator("iframe").getByText("the page at /one").waitFor();
    await owner().change("navigate", "--target", pane, two);
    await page.frameLocator("iframe").getByText("the page at /two").waitFor();
    expect(await page.getByRole("textbox", { name: "Address" }).inputValue()).toBe(two);
    expect(await owner().refusal("navigate", "--target", pane, "javascript:alert(1)")).toMatchObject(INVALID);
    await owner().change("open-editor", "--target", pane, owner().scene.sandbox.path("notes"));
    expect((await owner().shown()).panes).toEqual({
      [paneId]: `0 0 100 100 editor ${owner().scene.sandbox.path("notes")} *`,
    });
  });

  test("F015 F027 F028 F065 F173 F174 F175 F179 what is listed of the device, its tabs and its panes", async () => {
    const { deviceId } = owner();
    const { paneId, second } = await owner().pair();
    const { terminalId } = await owner().done("new-tab", { title: "shell" });
    const status = await owner().data<DeviceEntry>("device-status");
    expect(status).toMatchObject({
      deviceId,
      deviceType: "browser",
      online: true,
      lastSeenAt: expect.any(Number) as unknown,
    });
    expect(await owner().scene.data<readonly DeviceEntry[]>("list-devices")).toContainEqual({
      ...status,
      lastSeenAt: expect.any(Number) as unknown,
    });
    const { tabs, ...workspace } = await owner().data<TabList>("list-tabs");
    const { revision } = await owner().shown();
    expect(workspace).toMatchObject({
      source: "live",
      ownerDeviceId: deviceId,
      workspaceRevision: revision,
      ownerOnline: true,
    });
    const times = { createdAt: expect.any(Number) as unknown, updatedAt: expect.any(Number) as unknown };
    const common = { id: expect.any(String) as unknown, ownerDeviceId: deviceId, status: "running", ...times };
    expect(tabs).toEqual([
      { ...common, title: "pair", index: 0, active: false, panes: 2 },
      { ...common, title: "shell", index: 1, active: true, panes: 1 },
    ]);
    const { panes } = await owner().data<PaneList>("list-panes", "--tab", "tab-index:0");
    const pane = { tabId: tabs[0]?.id, ownerDeviceId: deviceId, kind: "picker", status: "running", contentRef: null };
    expect(panes).toEqual([
      { ...pane, id: paneId, updatedAt: times.updatedAt, index: 0, active: false },
      { ...pane, id: second, updatedAt: times.updatedAt, index: 1, active: true },
    ]);
    expect((await owner().data<PaneList>("list-panes", "--tab", "tab-name:shell")).panes).toMatchObject([
      { kind: "terminal", contentRef: { terminalId } },
    ]);
  });

  test("F222 F223 F224 F225 F226 display: each word, of the active pane and of another one", async () => {
    const { deviceId } = owner();
    const { tab: tabId, pane, paneId } = await owner().tab("name %");
    const { tabId: shellTab, paneId: shellPane, terminalId } = await owner().done("new-tab", { title: "shell" });
    const format =
      "%deviceId %tabId %tabTitle %paneId %paneKind [%terminalId] [%sessionRef] %ownerOnline %workspaceRevision %%";
    const { revision } = await owner().shown();
    const display = async (...args: readonly string[]): Promise<string> =>
      (await owner().data<{ text: string }>("display", "-p", format, ...args)).text;
    expect(await display()).toBe(
      `${deviceId} ${shellTab} shell ${shellPane} terminal [${terminalId}] [] true ${revision} %`,
    );
    expect(await display("--target", pane)).toBe(
      `${deviceId} ${tabId.slice(4)} name % ${paneId} picker [] [] true ${revision} %`,
    );
    expect(await owner().refusal("display", "-p", "%paneID")).toMatchObject(INVALID);
  });

  test("F163 F181 a change without a revision reads it first, and each has a key of its own", async () => {
    const { pane } = await owner().tab("one");
    owner().asked.length = 0;
    const { revision } = await owner().shown();
    for (const direction of ["horizontal", "vertical"])
      await owner().data("split-pane", "--target", pane, "--direction", direction, "--editor", "/f");
    await owner().data(
      "split-pane",
      "--target",
      pane,
      "--direction",
      "vertical",
      "--editor",
      "/g",
      "--idempotency-key",
      "mine",
    );
    expect(owner().asked.map(({ phase, expectedRevision }) => [phase, expectedRevision])).toEqual([
      ["read", undefined],
      ["apply", revision],
      ["read", undefined],
      ["apply", revision + 1],
      ["read", undefined],
      ["apply", revision + 2],
    ]);
    const keys = owner().asked.flatMap(({ idempotencyKey }) => idempotencyKey ?? []);
    expect([new Set(keys).size, keys[2]]).toEqual([3, "mine"]);
  });
});
