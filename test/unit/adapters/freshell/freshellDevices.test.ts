/** The command line as a device: the owner of its layout for as long as a command needs it, and a caller of others. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PaneList, TabList } from "../../../../adapters/freshell/cli/deviceCalls.ts";
import { DeviceFake } from "../../../support/freshell/deviceFake.ts";
import type { CliResult } from "../../../support/daemon/cliOutput.ts";
import { RelayFake } from "../../../support/freshell/relayFake.ts";
import { Interrupted } from "../../../../adapters/cli/cliIo.ts";

let relay: RelayFake;
let desk: DeviceFake;
beforeEach(async () => {
  relay = await RelayFake.start();
  desk = new DeviceFake();
  relay.owners.set("desk", (request) => desk.runtime.respond(request));
  relay.known.add("desk");
});
afterEach(() => relay[Symbol.asyncDispose]());

const file = (name: string): string => join(relay.fake.home, ".freshell", name);
const saved = (): DeviceFake["saved"] =>
  JSON.parse(readFileSync(file("cli-layout.json"), "utf8")) as DeviceFake["saved"];
const deviceId = (): string =>
  (JSON.parse(readFileSync(file("cli-device.json"), "utf8")) as { deviceId: string }).deviceId;
/** What is kept from before. */
function keep(name: string, content: unknown): void {
  mkdirSync(join(relay.fake.home, ".freshell"), { recursive: true, mode: 0o700 });
  writeFileSync(file(name), typeof content === "string" ? content : JSON.stringify(content));
}

async function data<Data = Record<string, unknown>>(...args: readonly string[]): Promise<Data> {
  const { code, out, err } = await relay.fake.run([...args, "--json"]);
  expect([code, err]).toEqual([0, ""]);
  return (JSON.parse(out) as { data: Data }).data;
}
async function refusal(
  ...args: readonly string[]
): Promise<{ readonly exit: number; readonly code: string; readonly details: object; readonly message: string }> {
  const { code: exit, out } = await relay.fake.run([...args, "--json"]);
  const { code, details, message } = JSON.parse(out) as { code: string; details: object; message: string };
  return { exit, code, details, message };
}
const tabs = async (): Promise<readonly string[]> => (await data<TabList>("list-tabs")).tabs.map(({ title }) => title);

describe("its own layout", () => {
  test("F019 F020 F029 F047 a tab is there for the next command, live, and belongs to this device", async () => {
    const made = await data("new-tab", "-n", "build", "--shell", "--cwd", "sub");
    expect(made).toEqual({
      tabId: expect.any(String) as string,
      paneId: expect.any(String) as string,
      terminalId: "t1",
      appliedRevision: 2,
    });
    expect(relay.asked[0]).toMatchObject({
      command: "new-tab",
      args: { title: "build", shell: "system", cwd: "/sub" },
      callerDeviceId: deviceId(),
      targetDeviceId: deviceId(),
      expectedRevision: 1,
      phase: "reserve",
    });
    expect(await data<TabList>("list-tabs")).toMatchObject({
      source: "live",
      ownerOnline: true,
      ownerDeviceId: deviceId(),
      workspaceRevision: 2,
      activeTabId: made["tabId"],
      tabs: [{ id: made["tabId"], title: "build", ownerDeviceId: deviceId(), index: 0, active: true, panes: 1 }],
    });
    const { panes } = await data<PaneList>("list-panes", "--tab", "tab-name:build");
    expect(panes).toMatchObject([
      { id: made["paneId"], tabId: made["tabId"], index: 0, kind: "terminal", contentRef: { terminalId: "t1" } },
    ]);
    expect(readdirSync(join(relay.fake.home, ".freshell")).toSorted()).toEqual(["cli-device.json", "cli-layout.json"]);
    await vi.waitFor(() => expect(relay.sockets.size).toBe(0), { timeout: 20_000, interval: 5 });
  });

  test("D1 it is saved before the server hears of it, and published", async () => {
    let atCreate: unknown;
    relay.onCreate = () => {
      atCreate = existsSync(file("cli-layout.json")) ? saved().workspaceRevision : 1;
    };
    await data("new-tab");
    expect(atCreate).toBe(1);
    const revisions = relay.published.filter(({ type }) => type === "layout.snapshot.updated");
    expect(revisions.map(({ ownerDeviceId, workspaceRevision }) => [ownerDeviceId, workspaceRevision])).toEqual([
      [deviceId(), 1],
      [deviceId(), 2],
    ]);
    expect(saved().workspaceRevision).toBe(2);
  });

  test("the lock is not held while a terminal is waited for, and Ctrl-C does not cut a change in two", async () => {
    const { paneId } = await data("new-tab");
    const { answer } = relay.fake;
    let whileWaiting: Promise<unknown> | undefined;
    relay.fake.answer = (asked, response) => {
      if (asked.path === "/api/waits") {
        expect(existsSync(file("cli-device.lock"))).toBe(false);
        whileWaiting = data("new-tab");
      }
      answer(asked, response);
    };
    await data("wait-for", "--target", `pane:${String(paneId)}`, "-p", "x");
    await whileWaiting;
    expect(relay.fake.asked.find(({ path }) => path === "/api/waits")?.body).toMatchObject({
      target: { terminalId: "t1" },
    });
    const controller = new AbortController();
    relay.onCreate = () => controller.abort(new Interrupted(130, "interrupted"));
    await relay.fake.run(["new-tab"], undefined, { signal: controller.signal });
    expect(saved()).toMatchObject({ workspaceRevision: 4, tabs: [{}, {}, {}] });
    expect(existsSync(file("cli-device.lock"))).toBe(false);
  });
});

describe("what was kept before", () => {
  test.each([
    ["no JSON", "{"],
    ["no layout", '{"tabs":[{"id":"__proto__"}]}'],
  ])("%s is kept, said in one line, and a new one begins", async (_name, text) => {
    keep("cli-layout.json", text);
    const { code, err } = await relay.fake.run(["new-tab", "--json"]);
    const [aside = ""] = readdirSync(join(relay.fake.home, ".freshell")).filter((name) => name.includes(".broken-"));
    expect([code, err]).toEqual([
      0,
      `freshell: ${file("cli-layout.json")} is not a layout: it was moved to ${file(aside)}, and a new layout was made\n`,
    ]);
    expect(readFileSync(file(aside), "utf8")).toBe(text);
    expect(await tabs()).toHaveLength(1);
  });
});

test("a quoted ~ is the home directory, for files and directories", async () => {
  await data("new-tab", "--cwd", "~/sub");
  expect(relay.asked[0]?.args).toMatchObject({ cwd: join(relay.fake.home, "sub") });
  for (const [path, means] of [
    ["~", relay.fake.home],
    ["~other/x", "/~other/x"],
    ["a~/x", "/a~/x"],
  ] as const) {
    relay.asked.length = 0;
    await data("open-editor", "--target", "pane-index:0", "--tab", "tab-index:0", path);
    expect(relay.asked.find(({ phase }) => phase === "apply")?.args).toMatchObject({ filePath: means });
  }
});

describe("inside a terminal that was made for a pane, this pane is the default", () => {
  const inside = (paneId: unknown, device = deviceId()) => ({
    FRESHELL_TOKEN: "t".repeat(20),
    FRESHELL_DEVICE_ID: device,
    FRESHELL_TAB_ID: "t",
    FRESHELL_PANE_ID: String(paneId),
  });
  const inPane = async (paneId: unknown, line: string, device?: string) => {
    const { code: exit, out } = await relay.fake.run([...line.split(" "), "--json"], inside(paneId, device));
    return { exit, ...(JSON.parse(out) as { data?: Record<string, unknown>; message?: string }) };
  };

  test("of display and of commands that change a pane, unless another one is named", async () => {
    const first = await data("new-tab", "-n", "one");
    const second = await data("new-tab", "-n", "two");
    expect((await inPane(first["paneId"], "display -p %tabTitle")).data).toEqual({ text: "one" });
    expect(
      (await inPane(first["paneId"], `display -p %tabTitle --target pane:${String(second["paneId"])}`)).data,
    ).toEqual({ text: "two" });
    for (const line of [
      "open-browser http://x.org/",
      "select-pane",
      "split-pane --direction vertical --browser http://y.org/",
    ]) {
      relay.asked.length = 0;
      expect(await inPane(first["paneId"], line)).toMatchObject({ exit: 0 });
      const asked = relay.asked.find(({ phase }) => phase === "apply");
      expect([asked?.args["target"], asked?.targetDeviceId]).toEqual([`pane:${String(first["paneId"])}`, deviceId()]);
    }
  });

  test("not of what ends something, and not where another device is meant", async () => {
    const { paneId } = await data("new-tab");
    for (const line of ["kill-pane", "respawn-pane", "open-browser http://x.org/ --device desk"]) {
      expect(await inPane(paneId, line)).toMatchObject({
        exit: 2,
        message: expect.stringContaining("needs --target") as string,
      });
    }
    expect(await inPane(paneId, "open-browser http://x.org/", "desk")).toMatchObject({ exit: 3 });
    expect(relay.fake.asked.at(-1)?.body).toMatchObject({
      targetDeviceId: "desk",
      args: { target: `pane:${String(paneId)}` },
    });
  });
});

describe("the lock", () => {
  const GONE = 4_194_303;

  test.each([
    ["of a process that is gone", { pid: GONE, start: "1" }],
    ["of a process whose number another one has now", { pid: process.pid, start: "1" }],
    ["that says nothing", "nonsense"],
  ])("one %s is taken, by several at once too", async (_name, content) => {
    keep("cli-device.lock", content);
    await Promise.all(Array.from({ length: 4 }, () => data("new-tab")));
    expect(await tabs()).toHaveLength(4);
    expect(readdirSync(join(relay.fake.home, ".freshell")).filter((name) => name.includes("lock"))).toEqual([]);
  });

  test("a directory or a link in its place is refused, and left alone", async () => {
    keep("cli-device.json", JSON.stringify({ deviceId: "me", deviceLabel: "me" }));
    const refused = {
      exit: 1,
      code: "INTERNAL_ERROR",
      message: expect.stringContaining("is not a regular file") as string,
    };
    mkdirSync(file("cli-device.lock"));
    expect(await refusal("new-tab")).toMatchObject(refused);
    rmdirSync(file("cli-device.lock"));
    keep("others", "not ours");
    symlinkSync(file("others"), file("cli-device.lock"));
    expect(await refusal("new-tab")).toMatchObject(refused);
    expect([readFileSync(file("cli-device.lock"), "utf8"), relay.hellos]).toEqual(["not ours", 0]);
  });

  test("a home that nobody can write to is told as such, and nothing is asked", async () => {
    // Root may write everywhere but where no file can be.
    const env = { FRESHELL_TOKEN: "t".repeat(20), FRESHELL_HOME: "/dev/null" };
    const { code, out } = await relay.fake.run(["new-tab", "--json"], env);
    expect([code, JSON.parse(out)]).toMatchObject([1, { code: "INTERNAL_ERROR" }]);
    expect(out).toContain("/dev/null/.freshell/cli-device.json cannot be created");
    expect([relay.fake.asked, relay.hellos]).toEqual([[], 0]);
  });
});

describe("device run", () => {
  async function running(
    ...args: readonly string[]
  ): Promise<{ ended: Promise<CliResult>; stop(): Promise<CliResult> }> {
    const controller = new AbortController();
    const ended = relay.fake.run(["device", "run", ...args], undefined, { signal: controller.signal });
    await vi.waitFor(() => expect(relay.published.length).toBeGreaterThan(1), { timeout: 20_000, interval: 5 });
    return {
      ended,
      stop: () => {
        controller.abort(new Interrupted(143, "terminated"));
        return ended;
      },
    };
  }

  test("F030 F031 it is the owner until it is told to stop; other commands go through it", async () => {
    const device = await running("--allow-remote", "desk", "--allow-remote", "*");
    expect(relay.published[0]).toMatchObject({
      type: "device.presence",
      deviceId: deviceId(),
      workspaceRevision: 1,
      remoteControl: { allow: ["desk", "*"] },
    });
    await Promise.all([data("new-tab", "-n", "one"), data("new-tab", "-n", "two")]);
    expect(relay.hellos).toBe(1);
    expect(saved().workspaceRevision).toBe(3);
    expect(await refusal("device", "run")).toMatchObject({ exit: 1, code: "INCONSISTENT_STATE" });
    expect((await device.stop()).code).toBe(0);
    expect(existsSync(file("cli-device.lock"))).toBe(false);
    expect((await tabs()).toSorted()).toEqual(["one", "two"]);
  });

  test("it comes back when the connection is lost, and not when another owner has taken over", async () => {
    relay.heartbeatIntervalMs = 20;
    const device = await running();
    await vi.waitFor(() =>
      expect(relay.published.filter(({ type }) => type === "device.presence").length).toBeGreaterThan(3),
    );
    relay.sockets.get(deviceId())?.terminate();
    await vi.waitFor(() => expect(relay.hellos).toBe(2), { timeout: 20_000, interval: 5 });
    await vi.waitFor(() => expect(relay.sockets.size).toBe(1), { timeout: 20_000, interval: 5 });
    relay.sockets.get(deviceId())?.close(4_011);
    const { code, err } = await device.ended;
    expect([code, relay.hellos]).toEqual([1, 2]);
    expect(err).toContain("another owner of this device has connected");
  });
});

describe("other devices", () => {
  test("F003 F163 F181 a change reads the revision of the named device, and has a key of its own unless one is given", async () => {
    await data("new-tab", "--device", "desk");
    expect(relay.asked.map(({ phase, expectedRevision }) => [phase, expectedRevision])).toEqual([
      ["read", undefined],
      ["reserve", 1],
      ["finalize", 1],
    ]);
    expect([existsSync(file("cli-layout.json")), relay.hellos]).toEqual([false, 0]);
    await data("new-tab", "--device", "desk");
    await data("new-tab", "--device", "desk", "--idempotency-key", "mine");
    const keys = relay.asked.filter(({ phase }) => phase === "reserve").map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(3);
    expect(keys[2]).toBe("mine");
    expect((await data("new-tab", "--device", "desk", "--idempotency-key", "mine"))["appliedRevision"]).toBe(4);
    expect(desk.layout.tabs).toHaveLength(3);
  });

  test("F066 F186 a conflict is tried again three times, and not when the revision was given", async () => {
    desk.tab("one");
    const change = ["rename-tab", "--device", "desk", "--target", "tab-index:0", "new"];
    let races = 3;
    relay.owners.set("desk", (request) => {
      // Somebody else is faster.
      if (request.phase === "apply" && races-- > 0) desk.done("rename-tab", { target: "tab-index:0", title: "other" });
      return desk.runtime.respond(request);
    });
    expect((await data(...change))["appliedRevision"]).toBe(6);
    races = 4;
    expect(await refusal(...change)).toMatchObject({
      exit: 7,
      code: "REVISION_CONFLICT",
      details: { currentRevision: 10 },
    });
    races = 1;
    relay.asked.length = 0;
    expect(await refusal(...change, "--expected-revision", "10")).toMatchObject({ exit: 7, code: "REVISION_CONFLICT" });
    expect(relay.asked).toHaveLength(1);
  });

  test("every command reaches the layout with its flags", async () => {
    const { tabId, paneId } = desk.tab("one");
    const on = ["--device", "desk"];
    const [pane, index] = [
      ["--target", `pane:${paneId}`],
      ["--target", "pane-index:0", "--tab", "tab-name:one"],
    ];
    const { paneId: right } = await data(
      "split-pane",
      ...on,
      ...index,
      "--direction",
      "horizontal",
      "--browser",
      "http://localhost:1",
    );
    await data("resize-pane", ...on, ...pane, "-x", "30");
    await data("swap-pane", ...on, "--source", `pane:${String(right)}`, ...pane);
    expect(desk.layout.layouts[tabId]).toMatchObject({ sizes: [30, 70], children: [{ id: right }, { id: paneId }] });
    await data("select-pane", ...on, "--target", "pane-index:0", "--tab", `tab:${tabId}`);
    expect(desk.layout.activePane[tabId]).toBe(right);
    await data("open-editor", ...on, ...index, "notes.md");
    await data("open-browser", ...on, ...pane, "https://x.org");
    await data("navigate", ...on, ...pane, "https://x.org/2");
    expect((await data<PaneList>("list-panes", ...on)).panes).toMatchObject([
      { index: 0, kind: "editor", filePath: "/notes.md", active: true },
      { index: 1, kind: "browser", url: "https://x.org/2", active: false },
    ]);
    await data("attach-terminal", ...on, "--target", "terminal:abc", "--to", `pane:${paneId}`);
    await data("send-keys", ...on, ...pane, "ls", "Enter");
    expect(relay.fake.asked.at(-1)).toMatchObject({ path: "/api/terminals/abc/input" });
    // Of this device, which has no such pane.
    expect(await refusal("send-keys", ...pane, "x")).toMatchObject({ exit: 3, code: "NOT_FOUND" });
    await data("capture-pane", ...on, "--target", "pane-index:1", "--tab", "tab-index:0");
    expect(relay.fake.asked.at(-1)?.path).toBe("/api/terminals/abc/capture");
    expect(await refusal("send-keys", ...on, ...index, "x")).toMatchObject({ exit: 4, code: "INVALID_TARGET" });
    await data("select-tab", ...on, "--target", "tab-index:0");
    expect((await data("kill-pane", ...on, ...pane))["detachedTerminals"]).toEqual(["abc"]);
    await data("kill-tab", ...on, "--target", "tab-name:one");
    expect(await data<TabList>("list-tabs", ...on)).toMatchObject({ tabs: [], activeTabId: null });
  });
});

describe("bad input is refused before the server is asked", () => {
  test.each([
    ["split-pane --target pane:1", "INVALID_ARGUMENT"],
    ["split-pane --direction vertical", "INVALID_ARGUMENT"],
    ["resize-pane --target pane:1", "INVALID_ARGUMENT"],
    ["resize-pane --target pane:1 -x 1.5", "INVALID_ARGUMENT"],
    ["kill-tab --target pane:1", "INVALID_TARGET"],
    ["navigate --target pane:1 javascript:1", "INVALID_ARGUMENT"],
    ["new-tab --expected-revision x", "INVALID_ARGUMENT"],
    ["display -p %foo", "INVALID_ARGUMENT"],
    ["device stop", "INVALID_ARGUMENT"],
    ["device run --allow-remote a/b", "INVALID_ARGUMENT"],
  ])("%s", async (line, code) => {
    expect((await refusal(...line.split(" "))).code).toBe(code);
    expect([relay.fake.asked, relay.hellos]).toEqual([[], 0]);
  });
});

describe("display", () => {
  const shown = async (format: string, ...more: readonly string[]): Promise<string> =>
    (await relay.fake.run(["display", "--device", "desk", "-p", format, ...more])).out;

  test("F222 F223 F225 F226 tokens are what is known of a pane, and nothing changes", async () => {
    const { tabId, paneId } = desk.tab("one %tabId");
    const before = desk.kept;
    const all =
      "%deviceId|%tabId|%tabTitle|%paneId|%paneKind|%terminalId|%sessionRef|%ownerOnline|%workspaceRevision|%%|100%%x";
    const line = `desk|${tabId}|one %tabId|${paneId}|browser|||true|2|%|100%x\n`;
    expect(await shown(all)).toBe(line);
    expect(await shown(all, "--target", "pane-index:0", "--tab", `tab:${tabId}`)).toBe(line);
    expect(await shown("%paneId", "--tab", "tab-index:0")).toBe(`${paneId}\n`);
    expect(desk.kept).toBe(before);
    expect(relay.asked.every(({ phase }) => phase === "read")).toBe(true);
  });

  test("F224 D17 a token is as many letters as follow", async () => {
    for (const format of ["%foo", "%", "100%", "%tabIds", "%TABID", "% tabId", "%__proto__"]) {
      expect(await refusal("display", "--device", "desk", "-p", format)).toMatchObject({
        exit: 2,
        code: "INVALID_ARGUMENT",
      });
    }
    expect(await shown("%%%%tabId")).toBe("%%tabId\n");
    expect(await shown("-%deviceId-2")).toBe("-desk-2\n");
  });

  test("D17 a format of the device alone needs no owner, and a device without a tab is shown as one", async () => {
    expect(await shown("[%tabId%paneId] %workspaceRevision")).toBe("[] 1\n");
    relay.owners.delete("desk");
    expect(await shown("%deviceId %ownerOnline")).toBe("desk false\n");
    expect((await relay.fake.run(["display", "-p", "%ownerOnline"])).out).toBe("false\n");
    expect(await refusal("display", "--device", "desk", "-p", "%deviceId %tabId")).toMatchObject({
      code: "DEVICE_OFFLINE",
    });
    expect(await refusal("display", "--device", "desk", "-p", "%deviceId", "--target", "pane:1")).toMatchObject({
      code: "DEVICE_OFFLINE",
    });
  });
});
