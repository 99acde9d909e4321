/** The page in a real browser, before a server that says what the test wants. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import type { BrowserPage, OpenOptions } from "./browser.ts";
import type { FakeCard } from "../daemon/dashboardFake.ts";
import { FakeDashboard } from "../daemon/dashboardFake.ts";
import { pageSuite } from "./pageSuite.ts";

interface PageScene extends AsyncDisposable {
  readonly fake: FakeDashboard;
  readonly page: Page;
  readonly opened: BrowserPage;
}

interface PageScenes {
  /** The page with these cards. */
  readonly scene: (...cards: readonly FakeCard[]) => Promise<PageScene>;
  readonly sceneWith: (options: OpenOptions, cards: readonly FakeCard[]) => Promise<PageScene>;
}

/** For a whole file of tests: see `pageSuite`. */
export function pageScenes(): PageScenes {
  const suite = pageSuite();
  const sceneWith: PageScenes["sceneWith"] = async (options, cards) => {
    const fake = await FakeDashboard.start(suite.bundle.directory, cards);
    const opened = await suite.browser.open(fake.url, options);
    return {
      fake,
      opened,
      page: opened.page,
      [Symbol.asyncDispose]: async () => {
        await opened[Symbol.asyncDispose]();
        await fake[Symbol.asyncDispose]();
        // Whatever else a test says: nothing was refused by the policy, logged as an error, or asked of anybody else.
        expect(opened.wrongs).toEqual([]);
      },
    };
  };
  return { scene: (...cards) => sceneWith({}, cards), sceneWith };
}

/** The next answer or keys that the page sends, sent by `act`. */
export async function sentBy(fake: FakeDashboard, act: () => Promise<unknown>): Promise<void> {
  const arrival = fake.arrival();
  await act();
  await arrival;
}

export const cardOf = (page: Page, agentId: number) => page.locator(`#agent-${agentId}`);
