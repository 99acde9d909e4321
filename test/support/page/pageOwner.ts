/**
 * The page in a real browser as the device that others change: the built daemon, real tmux, the command line, and a way
 * between page and daemon on which a test sees each frame. For a whole file of tests; each begins with no tab.
 */
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type {
  DeviceEntry,
  DeviceLayoutResponse,
  OwnerRequest,
  RpcOutcome,
} from "../../../protocol/api/freshell/rpc.ts";
import { callJson } from "../daemon/nativeServer.ts";
import { requestOf } from "../freshell/fakeOwner.ts";
import { AUTH_TOKEN, type FreshellScene, freshellScene } from "../freshell/freshellScene.ts";
import { type Daemon, daemonAt } from "../freshell/hybridKills.ts";
import { type Watch, WatchedWay } from "../freshell/watchedWay.ts";
import { type BrowserPage, NO_BROWSER, startBrowser, type TestBrowser } from "./browser.ts";
import { type OtherSite, siteOf } from "./otherSite.ts";

/** What a person sees of a device's layout: read from the document of its page. */
interface Shown {
  readonly revision: number;
  /** Titles in their order; a star is behind the one whose panes are shown. */
  readonly tabs: readonly string[];
  /** Of that tab, by id: left, top, width and height in percent, and what is in it; a star is behind the active one. */
  readonly panes: Readonly<Record<string, string>>;
}

/** In the page. */
const READ = `(() => {
  const percent = (text) => Math.round(Number.parseFloat(text) * 100) / 100;
  const content = (pane) => {
    const terminal = pane.querySelector(".terminal-pane");
    if (terminal !== null) return "terminal " + terminal.dataset.terminal;
    if (pane.querySelector(".browser-pane") !== null) return "browser " + pane.querySelector(".address a").getAttribute("href");
    if (pane.querySelector(".editor-pane") !== null) return "editor " + pane.querySelector(".path").textContent;
    return pane.querySelector(".picker") === null ? "other" : "picker";
  };
  const tabs = [...document.querySelectorAll(".tab")].map((tab) =>
    tab.querySelector(".tab-title").firstChild.data + (tab.classList.contains("active") ? " *" : ""));
  const boxes = [...document.querySelectorAll(".space:not([hidden]) > .pane-box")].map((box) => {
    const { left, top, width, height } = box.style;
    const place = box.hidden ? "hidden" : [left, top, width, height].map(percent).join(" ");
    const active = box.querySelector(".pane.active") === null ? "" : " *";
    return [box.dataset.pane, place + " " + content(box) + active];
  });
  const { revision } = document.querySelector(".device").dataset;
  return { revision: Number(revision), tabs, panes: Object.fromEntries(boxes) };
})()`;

/** In the page: each device's id and whether it is allowed. */
const READ_BOXES = `[...document.querySelectorAll("dialog label.check")]
  .map((row) => [row.querySelector("code")?.textContent ?? "*", row.querySelector("input").checked])`;

const shownBy = (page: Page): Promise<Shown> => page.evaluate<Shown>(READ);

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
  readonly daemon: Daemon;
  /** What panes may show. */
  readonly site: OtherSite;
  /** What the server has asked the page for. */
  readonly asked: OwnerRequest[] = [];
  /** Whether a frame goes on. */
  watch: Watch = () => true;
  deviceId = "";
  readonly #way: WatchedWay;
  readonly #browser: TestBrowser;
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
  allow(...ids: readonly string[]): Promise<void> {
    return this.#decide(ids, ids);
  }

  /** Nobody, this device neither. */
  allowNobody(notEven: string): Promise<void> {
    return this.#decide([], [notEven]);
  }

  /** @param listed are waited for: the server is asked for its devices when the settings open */
  async #decide(ids: readonly string[], listed: readonly string[]): Promise<void> {
    const { page } = this;
    await page.getByRole("button", { name: "Settings" }).click();
    const rows = page.locator("dialog label.check");
    await rows.first().waitFor();
    for (const id of listed.filter((one) => one !== "*")) await rows.filter({ hasText: id }).waitFor();
    // The server's devices come later than those that are allowed, and stand between them.
    const rowOf = (id: string): Locator =>
      id === "*"
        ? rows.filter({ hasNot: page.locator("code") })
        : rows.filter({ has: page.getByText(id, { exact: true }) });
    const boxes = () => page.evaluate<readonly (readonly [string, boolean])[]>(READ_BOXES);
    const wrong = async () => (await boxes()).filter(([id, isChecked]) => isChecked !== ids.includes(id));
    for (let rest = await wrong(); rest.length > 0; rest = await wrong()) {
      for (const [id] of rest) await rowOf(id).getByRole("checkbox").setChecked(ids.includes(id));
    }
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
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

  async terminalIds(): Promise<readonly string[]> {
    return (await this.daemon.terminals()).map(({ terminalId }) => terminalId);
  }

  /** Nothing of the tests before. */
  async clear(): Promise<void> {
    this.watch = () => true;
    for (const { id } of (await this.layout()).snapshot.tabs) await this.done("kill-tab", { target: `tab:${id}` });
    for (const id of await this.terminalIds()) await this.daemon.call("POST", `/api/terminals/${id}/kill`);
    this.asked.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
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
