/**
 * A Chromium whose push service is a test's own: everything is the browser's but the subscription, for which it would ask
 * Google's servers. What comes there is handed to the page's service worker as the browser does it.
 */
import type { CDPSession, Page } from "playwright-core";
import type { PushNotice } from "../../../protocol/api/native/nativeNotifications.ts";

/** Runs in the page before its own scripts. */
export const subscribesAt = (url: string, keys: object): string => `
  const subscription = {
    endpoint: ${JSON.stringify(url)},
    toJSON: () => ({ endpoint: ${JSON.stringify(url)}, keys: ${JSON.stringify(keys)} }),
    unsubscribe: async () => { localStorage.removeItem("test.push"); return true; },
  };
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    localStorage.setItem("test.push", JSON.stringify([userVisibleOnly, applicationServerKey]));
    return subscription;
  };
  PushManager.prototype.getSubscription = async () => localStorage.getItem("test.push") === null ? null : subscription;
`;

interface Shown {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly silent: boolean;
  readonly actions: readonly { readonly action: string; readonly title: string }[];
}

interface PushedTo {
  deliver(notice: PushNotice): Promise<void>;
  /** How many open pages the worker knows of: one that has just been left may still be among them. */
  pages(): Promise<number>;
  /** What is shown now. */
  shown(): Promise<readonly Shown[]>;
  /** A press on what is shown, or on one of its buttons; resolves when the worker is done with it. */
  press(action?: string): Promise<void>;
}

/** The page's service worker, which is registered already. */
export async function pushedTo(page: Page): Promise<PushedTo> {
  const session = await page.context().newCDPSession(page);
  const registrationId = await registrationOf(session);
  const { origin } = new URL(page.url());
  const inWorker = async <Result>(script: string): Promise<Result> => {
    const [worker] = page.context().serviceWorkers();
    if (worker === undefined) throw new Error("the service worker does not run");
    return worker.evaluate<Result>(script);
  };
  return {
    deliver: async (notice) => {
      await session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(notice) });
    },
    pages: () => inWorker("clients.matchAll({ includeUncontrolled: true }).then((all) => all.length)"),
    shown: () => inWorker(SHOWN),
    press: (action = "") => inWorker(PRESS(action)),
  };
}

const SHOWN = `(async () => {
  const shown = await registration.getNotifications();
  return shown.map(({ title, body, tag, silent, actions }) => ({
    title, body, tag, silent, actions: (actions ?? []).map(({ action, title }) => ({ action, title })),
  }));
})()`;

/** In the worker. A script's own event cannot be waited for in the browser's way. */
const PRESS = (action: string): string => `(async () => {
  const [notification] = await registration.getNotifications();
  const event = new NotificationEvent("notificationclick", { notification, action: ${JSON.stringify(action)} });
  const work = [];
  Object.defineProperty(event, "waitUntil", { value: (one) => work.push(one) });
  dispatchEvent(event);
  await Promise.allSettled(work);
})()`;

async function registrationOf(session: CDPSession): Promise<string> {
  const found = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const one = registrations.find(({ isDeleted }) => !isDeleted);
      if (one !== undefined) resolve(one.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  return found;
}
