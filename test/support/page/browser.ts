/**
 * A real browser for a test: Chromium without a window, through playwright-core, which brings no browser of its own. What a
 * page must never do is collected while it runs: errors on the console, refusals of its content security policy, requests
 * to anywhere but the server it came from.
 */
import { existsSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";

const EXECUTABLES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const CHROMIUM = EXECUTABLES.find(existsSync);

/** For what hangs: beside other work a step of a page may take many seconds. Under the limit of a test. */
const STEP_TIMEOUT_MS = 30_000;

/** Why there can be no browser here; undefined when there can. For `test.skipIf`, after it has been printed. */
export const NO_BROWSER: string | undefined =
  CHROMIUM === undefined
    ? `no Chromium at ${EXECUTABLES.join(", ")}: tests of the page in a browser are skipped`
    : undefined;

export interface BrowserPage extends AsyncDisposable {
  readonly page: Page;
  /** One more page of its profile, which is watched as well. */
  another(): Promise<Page>;
  /** What it did wrong so far; empty for a good page. */
  readonly wrongs: readonly string[];
}

export interface OpenOptions extends BrowserContextOptions {
  /** Runs in the page before any script of its own. */
  readonly before?: string;
  /** Whatever else it may show: an origin. */
  readonly shows?: string;
}

export interface TestBrowser extends AsyncDisposable {
  /** A page with storage of its own. */
  open(url: string, options?: OpenOptions): Promise<BrowserPage>;
}

/** @param env the browser's environment, when it is not this process's own */
export async function startBrowser(env?: NodeJS.ProcessEnv): Promise<TestBrowser> {
  const browser = await chromium.launch({
    ...(env === undefined ? {} : { env: definedOf(env) }),
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return {
    open: (url, options) => openPage(browser, url, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** From now on the page's timers do not go off: what a person does comes first, and what the page does by itself never. */
export async function stopTimers(page: Page): Promise<void> {
  await page.clock.install();
  // Not before the page's own now, which goes on until then.
  await page.clock.pauseAt(Date.now() + 1_000);
}

const definedOf = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

async function openPage(browser: Browser, url: string, options: OpenOptions = {}): Promise<BrowserPage> {
  const { before, shows, ...rest } = options;
  const context = await browser.newContext(rest);
  if (before !== undefined) await context.addInitScript(before);
  const wrongs: string[] = [];
  const another = async (): Promise<Page> => {
    const page = await context.newPage();
    // Before the test's own time-out, so that it says what was waited for.
    page.setDefaultTimeout(STEP_TIMEOUT_MS);
    watch(page, [new URL(url).origin, ...(shows === undefined ? [] : [shows])], wrongs);
    await page.goto(url);
    return page;
  };
  return { page: await another(), another, wrongs, [Symbol.asyncDispose]: () => context.close() };
}

function watch(page: Page, origins: readonly string[], wrongs: string[]): void {
  page.on("console", (message) => {
    // Chromium reports refused styles and scripts here; a failed request is the test's own doing or a wrong of its own.
    const isRequest = /^(Failed to load resource|WebSocket connection to )/.test(message.text());
    if (message.type() === "error" && !isRequest) wrongs.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrongs.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (!origins.includes(origin) && protocol !== "data:") wrongs.push(`request elsewhere: ${request.url()}`);
  });
}
