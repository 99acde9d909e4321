/** Freshell over real tmux with its page in a real browser, and another device that speaks to it over HTTP. */
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { DeviceEntry, RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import { FRESHELL_TOKEN, FreshellFixture, type FreshellFixtureOptions } from "../daemon/freshellFixture.ts";
import { eventually } from "../clock/eventually.ts";
import { type OwnedFixture, ownedFixture } from "../tmux/ownedFixture.ts";
import type { BrowserPage, OpenOptions } from "./browser.ts";
import { pageSuite } from "./pageSuite.ts";

interface DeviceScene extends AsyncDisposable {
  readonly freshell: FreshellFixture;
  readonly owned: OwnedFixture;
  readonly opened: BrowserPage;
  readonly page: Page;
  /** The page's device, once it is logged in. */
  readonly deviceId: string;
  /** What another device asks the page for, with the revision as it is. */
  rpc(command: string, args?: object, more?: object): Promise<RpcOutcome>;
  /** The layout as the page tells it. */
  layout(): Promise<Snapshot>;
}

interface Snapshot {
  readonly workspaceRevision: number;
  readonly snapshot: {
    readonly tabs: readonly { readonly id: string; readonly title: string; readonly ownerDeviceId: string }[];
    readonly panes: readonly { readonly id: string; readonly tabId: string; readonly kind: string }[];
    readonly layouts: Readonly<Record<string, unknown>>;
    readonly activeTabId: string | null;
    readonly activePane: Readonly<Record<string, string>>;
  };
}

interface SceneOptions extends OpenOptions {
  readonly freshell?: FreshellFixtureOptions;
  /** Who may change the page's layout; default everybody. */
  readonly allow?: readonly string[];
}

interface DeviceScenes {
  /** The page, logged in as a person does it. */
  open(options?: SceneOptions): Promise<DeviceScene>;
}

/** For a whole file of tests: see `pageSuite`. */
export function deviceScenes(): DeviceScenes {
  const suite = pageSuite("freshell");
  return {
    open: async (options = {}) => {
      const { freshell: given, allow = ["*"], before, ...rest } = options;
      const owned = await ownedFixture();
      const freshell = await FreshellFixture.start(owned.server, {
        ...given,
        app: { pageDirectory: suite.bundle.directory, ...given?.app },
      });
      const opened = await suite.browser.open(`${freshell.url}/device/`, {
        ...rest,
        before: `if (location.protocol.startsWith("http") && self === top && localStorage.getItem("freshell.device-allow.v1") === null) localStorage.setItem("freshell.device-allow.v1", ${JSON.stringify(JSON.stringify({ allow }))});${before ?? ""}`,
      });
      const { page } = opened;
      await logIn(page);
      const deviceId = await page.evaluate<string>('JSON.parse(localStorage.getItem("freshell.device.v1")).deviceId');
      const entry = async (): Promise<DeviceEntry> =>
        (await freshell.call("GET", `/api/devices/${deviceId}`)).json as unknown as DeviceEntry;
      // The page is connected before it has said whom it allows, and its layout's revision with it.
      await eventually(async () => (await entry()).workspaceRevision !== null);
      const revision = async (): Promise<number> => (await entry()).workspaceRevision ?? 0;
      let count = 0;
      return {
        freshell,
        owned,
        opened,
        page,
        deviceId,
        rpc: async (command, args = {}, more = {}) => {
          count += 1;
          const { json } = await freshell.call("POST", "/api/rpc", {
            type: "layout.rpc.request",
            requestId: `req-${count}`,
            callerDeviceId: "other",
            targetDeviceId: deviceId,
            command,
            args,
            expectedRevision: await revision(),
            idempotencyKey: `key-${count}`,
            ...more,
          });
          return json as unknown as RpcOutcome;
        },
        layout: async () => {
          const { json } = await freshell.call("GET", `/api/devices/${deviceId}/layout`);
          return json as unknown as Snapshot;
        },
        [Symbol.asyncDispose]: async () => {
          await opened[Symbol.asyncDispose]();
          await freshell[Symbol.asyncDispose]();
          await owned[Symbol.asyncDispose]();
          expect(opened.wrongs).toEqual([]);
        },
      };
    },
  };
}

async function logIn(page: Page): Promise<void> {
  await page.getByLabel("The server's token").fill(FRESHELL_TOKEN);
  await page.keyboard.press("Enter");
  await page.locator('.device[data-link="live"]').waitFor();
}

/** A terminal's screen; the n-th that is shown. */
export const screenOf = (page: Page, at = 0): Locator =>
  page.locator(".space:not([hidden]) .pane-box:not([hidden]) .terminal-pane").nth(at);

/** What a command prints is made by it, so that it is not what was typed. */
export async function typeCommand(page: Page, screen: Locator, word: string): Promise<void> {
  await screen.locator(".xterm-screen").click();
  await page.keyboard.type(`printf '%s-%s\\n' ${word} $((40+2))`);
  await page.keyboard.press("Enter");
  try {
    await screen.getByText(`${word}-42`).first().waitFor();
  } catch (cause) {
    const shown = await screen.innerText();
    const focused = await page.evaluate<string>("document.activeElement?.outerHTML.slice(0, 200)");
    throw new Error(`${word} was not printed; the screen shows ${JSON.stringify(shown)}, focused is ${focused}`, {
      cause,
    });
  }
}
