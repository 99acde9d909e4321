/**
 * The page in a real browser as the device that others change: the built daemon, real tmux, the command line, and a way
 * between page and daemon on which a test sees each frame. For a whole file of tests; each begins with no tab.
 */
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type {
  DeviceEntry,
  DeviceLayoutResponse,
  OwnerRequest,
  RpcOutcome,
} from "../../../protocol/api/freshell/rpc.ts";
import type { FreshellClient } from "../daemon/freshellFixture.ts";
import { callJson } from "../daemon/nativeServer.ts";
import { requestOf } from "../freshell/fakeOwner.ts";
import { AUTH_TOKEN, type FreshellScene, freshellScene, type Refusal } from "../freshell/freshellScene.ts";
import { type Daemon, daemonAt } from "../freshell/hybridKills.ts";
import type { Places } from "../freshell/rpcForms.ts";
import { type Watch, WatchedWay } from "../freshell/watchedWay.ts";
import { type BrowserPage, NO_BROWSER, startBrowser, type TestBrowser } from "./browser.ts";
import { type OtherSite, siteOf } from "./otherSite.ts";
import { type Shown, shownBy } from "./shownLayout.ts";

interface Made {
  readonly tabId: string;
  readonly paneId: string;
  readonly terminalId: string;
  readonly appliedRevision: number;
  readonly detachedTerminals?: readonly string[];
}

interface OneTab {
  /** A selector, as `pane` is. */
  readonly tab: string;
  readonly pane: string;
  readonly paneId: string;
}

type Answered = RpcOutcome & { readonly status: number };

const STORED_DEVICE = 'JSON.parse(localStorage.getItem("freshell.device.v1")).deviceId';

class PageOwner implements AsyncDisposable {
  readonly scene: FreshellScene;
  /** With the bootstrap token. */
  daemon: Daemon;
  /** What panes may show. */
  readonly site: OtherSite;
  /** What the server has asked the page for. */
  readonly asked: OwnerRequest[] = [];
  /** Whether a frame goes on. */
  watch: Watch = () => true;
  deviceId = "";
  readonly #way: WatchedWay;
  readonly #browser: TestBrowser;
  readonly #clients: FreshellClient[] = [];
  #opened: BrowserPage | undefined;
  #page: Page | undefined;
  /** Of profiles that are gone. */
  readonly #wrongs: string[] = [];
  #told = 0;

  private constructor(parts: Pick<PageOwner, "scene" | "site">, way: WatchedWay, browser: TestBrowser) {
    this.scene = parts.scene;
    this.site = parts.site;
    this.daemon = daemonAt(parts.scene.daemon, parts.scene.url, AUTH_TOKEN);
    this.#way = way;
    this.#browser = browser;
    way.watch = (from, frame) => {
      if (from === "server" && frame.type === "layout.rpc.request") this.asked.push(frame as unknown as OwnerRequest);
      return this.watch(from, frame);
    };
  }

  /** With a person logged in who lets every device change the layout. */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<PageOwner> {
    const [scene, browser] = await Promise.all([freshellScene(env), startBrowser()]);
    const site = await siteOf((path) => `<p>the page at ${path}</p>`);
    const owner = new PageOwner({ scene, site }, await WatchedWay.to(scene.url), browser);
    const page = await owner.open();
    await page.getByLabel("The server's token").fill(AUTH_TOKEN);
    await page.keyboard.press("Enter");
    await owner.isBack();
    owner.deviceId = await page.evaluate<string>(STORED_DEVICE);
    await owner.allow("*");
    return owner;
  }

  get page(): Page {
    if (this.#page === undefined) throw new Error("no page is open");
    return this.#page;
  }

  /** In a profile of its own. */
  async open(profile: BrowserContextOptions = {}): Promise<Page> {
    this.#opened = await this.#browser.open(`${this.#way.url}/device/`, {
      ...profile,
      shows: this.site.url.slice(0, -1),
    });
    this.#page = this.#opened.page;
    return this.page;
  }

  /** The daemon is killed and another one is there; the command line still knows the first one only. */
  async restart(): Promise<void> {
    const { running } = this.daemon;
    running.child.kill("SIGKILL");
    await running.finished;
    const next = this.scene.sandbox.start(["serve", "--only", "freshell"], { env: { AUTH_TOKEN, PORT: "0" } });
    const [, url = ""] = await next.line(/Freshell listening on (\S+)/);
    this.daemon = daemonAt(next, url, AUTH_TOKEN);
    this.#way.target = url;
  }

  /** Another device's connection, for as long as the test goes on. */
  async connect(deviceId: string): Promise<FreshellClient> {
    const device = { deviceId, deviceLabel: deviceId, deviceType: "cli", role: "caller" };
    const client = await this.daemon.connect({ device });
    this.#clients.push(client);
    return client;
  }

  /** One more page of the profile, which the test goes on with. */
  async another(): Promise<Page> {
    this.#page = await this.#opened?.another();
    return this.page;
  }

  /** Its profile goes with it. */
  async close(): Promise<void> {
    const opened = this.#opened;
    [this.#opened, this.#page] = [undefined, undefined];
    await opened?.[Symbol.asyncDispose]();
    this.#wrongs.push(...(opened?.wrongs ?? []));
  }

  /** Whatever a test says: nothing was refused by the policy, logged as an error, or asked of anybody else. */
  requireGood(): void {
    const all = [...this.#wrongs, ...(this.#opened?.wrongs ?? [])];
    const found = all.slice(this.#told);
    this.#told = all.length;
    requireSame("the page", found, []);
  }

  /** Until the page is the device, and connected. */
  async isBack(page = this.page): Promise<void> {
    await page.locator('.device[data-role="owner"][data-link="live"]').waitFor();
  }

  /** Who may change the layout, as a person says it. */
  async allow(...ids: readonly string[]): Promise<void> {
    const { page } = this;
    await page.getByRole("button", { name: "Settings" }).click();
    const rows = page.locator("dialog label.check");
    for (const id of ids.filter((one) => one !== "*")) await rows.filter({ hasText: id }).waitFor();
    for (const row of await rows.all()) {
      const [id = "*"] = await row.locator("code").allTextContents();
      await row.getByRole("checkbox").setChecked(ids.includes(id));
    }
    await page.keyboard.press("Escape");
    // Frames of a connection are taken in their order, and the answer to a read comes behind what was told before it.
    await this.layout();
  }

  /** What the page shows. It has drawn when the caller has its answer. */
  shown(): Promise<Shown> {
    return shownBy(this.page);
  }

  async layout(): Promise<DeviceLayoutResponse> {
    return (await this.daemon.call("GET", `/api/devices/${this.deviceId}/layout`))
      .json as unknown as DeviceLayoutResponse;
  }

  async revision(): Promise<number> {
    const { json } = await this.daemon.call("GET", `/api/devices/${this.deviceId}`);
    return (json as unknown as DeviceEntry).workspaceRevision ?? 0;
  }

  /** As the device "caller", with the revision of now. */
  async request(command: string, args: object = {}, fields: object = {}): Promise<Record<string, unknown>> {
    const request = requestOf(command, this.deviceId, args);
    const revised = "expectedRevision" in request ? { expectedRevision: await this.revision() } : {};
    return { ...request, ...revised, ...fields };
  }

  /** @param token of a device; default the bootstrap token */
  async send(request: object, token = AUTH_TOKEN): Promise<Answered> {
    const { status, json } = await callJson(this.daemon.url, "POST", "/api/rpc", request, { "x-auth-token": token });
    return { status, ...(json as unknown as RpcOutcome) };
  }

  /** Over HTTP. */
  async rpc(command: string, args: object = {}, fields: object = {}): Promise<Answered> {
    return this.send(await this.request(command, args, fields));
  }

  /** Over HTTP. @throws Error when it is refused */
  async done(command: string, args: object = {}): Promise<Made> {
    const outcome = await this.rpc(command, args);
    if (!outcome.ok) throw new Error(`${command}: ${outcome.error.message}`);
    return { ...(outcome.result as unknown as Made), appliedRevision: outcome.appliedRevision ?? 0 };
  }

  /** A tab with one pane that shows nothing yet. */
  async tab(title: string): Promise<OneTab> {
    const { tabId, paneId } = await this.done("new-tab", { title, picker: true });
    return { tab: `tab:${tabId}`, pane: `pane:${paneId}`, paneId };
  }

  /** The same with a second one on its right. */
  async pair(title = "pair"): Promise<OneTab & { readonly second: string }> {
    const first = await this.tab(title);
    const { paneId } = await this.done("split-pane", { target: first.pane, direction: "horizontal", picker: true });
    return { ...first, second: paneId };
  }

  /** A page of the web and, on its right, what is given: by default a terminal. */
  async places(content: object = {}): Promise<Places> {
    const url = `${this.site.url}one`;
    const { tabId, paneId } = await this.done("new-tab", { title: "a:b c", browser: url });
    const args = { target: `pane:${paneId}`, direction: "horizontal", ...content };
    const second = await this.done("split-pane", args);
    return { tab: `tab:${tabId}`, pane: `pane:${paneId}`, second: `pane:${second.paneId}`, url };
  }

  /** What the command line answers about this device. */
  data<Data>(command: string, ...args: readonly string[]): Promise<Data> {
    return this.scene.data<Data>(command, "--device", this.deviceId, ...args);
  }

  /** A change by the command line: one revision, which the page shows. */
  async change(command: string, ...args: readonly string[]): Promise<Made> {
    const before = await this.revision();
    const made = await this.data<Made>(command, ...args);
    const { revision } = await this.shown();
    requireSame(command, [made.appliedRevision, revision], [before + 1, before + 1]);
    return made;
  }

  /** What the command line refuses: layout, page and terminals are as they were. */
  async refusal(command: string, ...args: readonly string[]): Promise<Pick<Refusal, "exitCode" | "code">> {
    const before = await this.#state();
    const { exitCode, code } = await this.scene.refusal(command, "--device", this.deviceId, ...args);
    requireSame(command, await this.#state(), before);
    return { exitCode, code };
  }

  async terminalIds(): Promise<readonly string[]> {
    return (await this.daemon.terminals()).map(({ terminalId }) => terminalId);
  }

  async #state(): Promise<object> {
    const { workspaceRevision, snapshot } = await this.layout();
    return { workspaceRevision, snapshot, shown: await this.shown(), terminals: await this.terminalIds() };
  }

  /** Nothing of the tests before. */
  async clear(): Promise<void> {
    this.watch = () => true;
    for (const { id } of (await this.layout()).snapshot.tabs) await this.done("kill-tab", { target: `tab:${id}` });
    for (const id of await this.terminalIds()) await this.daemon.call("POST", `/api/terminals/${id}/kill`);
    for (const client of this.#clients.splice(0)) client.socket.terminate();
    this.asked.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.socket.terminate();
    await this.close();
    await this.#browser[Symbol.asyncDispose]();
    await this.#way[Symbol.asyncDispose]();
    await this.site[Symbol.asyncDispose]();
    await this.scene[Symbol.asyncDispose]();
  }
}

function requireSame(what: string, found: unknown, wanted: unknown): void {
  expect([what, found]).toEqual([what, wanted]);
}

/** One of it for all tests of a file; without a browser the file says so and skips them. */
export function pageOwner(env: Readonly<Record<string, string>> = {}): () => PageOwner {
  let owner: PageOwner | undefined;
  const present = (): PageOwner => {
    if (owner === undefined) throw new Error("no page yet: use it within a test");
    return owner;
  };
  if (NO_BROWSER === undefined) {
    beforeAll(async () => {
      owner = await PageOwner.start(env);
    });
    beforeEach(() => present().clear());
    afterEach(() => present().requireGood());
    afterAll(() => owner?.[Symbol.asyncDispose]());
  } else process.stdout.write(`${NO_BROWSER}\n`);
  return present;
}
