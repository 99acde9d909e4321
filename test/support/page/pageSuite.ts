/** One browser and one bundle of the page for all tests of a file; without a browser the file says so and skips them. */
import { afterAll, beforeAll } from "vitest";
import { NO_BROWSER, startBrowser, type TestBrowser } from "./browser.ts";
import { bundlePage, type PageBundle, type PageName } from "./pageBundle.ts";

interface PageSuite {
  readonly browser: TestBrowser;
  readonly bundle: PageBundle;
}

/** Its members are there while tests run. */
export function pageSuite(name: PageName = "dashboard"): PageSuite {
  let browser: TestBrowser | undefined;
  let bundle: PageBundle | undefined;
  if (NO_BROWSER === undefined) {
    beforeAll(async () => {
      bundle = bundlePage(name);
      browser = await startBrowser();
    });
    afterAll(async () => {
      await browser?.[Symbol.asyncDispose]();
      bundle?.[Symbol.dispose]();
    });
  } else process.stdout.write(`${NO_BROWSER}\n`);
  const present = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("no browser yet: use it within a test");
    return value;
  };
  return {
    get browser() {
      return present(browser);
    },
    get bundle() {
      return present(bundle);
    },
  };
}
