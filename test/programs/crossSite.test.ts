/** What a browser lets a page of elsewhere cause at the dashboard: a link leads to its page, and nothing else is served. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NO_BROWSER, startBrowser, type TestBrowser } from "../support/page/browser.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";

if (NO_BROWSER !== undefined) process.stderr.write(`${NO_BROWSER}\n`);

let browser: TestBrowser | undefined;
beforeAll(async () => {
  if (NO_BROWSER === undefined) browser = await startBrowser();
});
afterAll(() => browser?.[Symbol.asyncDispose]());

test.skipIf(NO_BROWSER !== undefined)("a page of another name or port", async () => {
  await using sandbox = cliSandbox();
  const daemon = sandbox.start(["serve", "--only", "dashboard"]);
  const [, port = ""] = await daemon.line(/dashboard listening on http:\/\/127\.0\.0\.1:(\d+)/);
  const dashboard = `http://127.0.0.1:${port}`;
  const other = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<title>other</title><a href="${dashboard}/">there</a>`);
  }).listen(0, "127.0.0.1");
  await once(other, "listening");
  try {
    for (const host of ["localhost", "127.0.0.1"]) {
      await using opened = await browser!.open(`http://${host}:${(other.address() as AddressInfo).port}/`);
      const { page } = opened;
      const seen = new Map<string, number>();
      page.on("response", (answer) => void seen.set(answer.url().slice(dashboard.length), answer.status()));
      const caused = ["/api/events/stream", "/api/agents", "/hook/status"];
      // As an image would be fetched: no Origin, and no response that the page could read.
      await page.evaluate(
        async (urls) =>
          void (await Promise.all(urls.map((url) => fetch(url, { mode: "no-cors" }).catch(() => undefined)))),
        caused.map((path) => dashboard + path),
      );
      expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(caused.map((path) => [path, 403])));
      const listed = page.waitForResponse((answer) => answer.url() === `${dashboard}/api/agents`);
      const [arrived] = await Promise.all([page.waitForNavigation(), page.click("a")]);
      expect([arrived?.status(), await page.title()]).toEqual([200, "tmuxwire"]);
      expect((await listed).status()).toBe(200);
    }
  } finally {
    other.closeAllConnections();
    other.close();
  }
});
