/**
 * Shows what the daemon tells while the page is closed (Web Push). It handles no requests and caches nothing: its scope is the
 * folder of the page's files, in which there is no document.
 */
import { systemClock } from "../../../daemon/time/clock.ts";
import type { PushNotice } from "../../../protocol/api/native/nativeNotifications.ts";
import type { Picked } from "./net/browserPush.ts";

/** Of `ServiceWorkerGlobalScope`, whose types exclude those of a page. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    matchAll(options: object): Promise<readonly PageClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: string, listener: (event: WorkerEvent) => void): void;
}
interface PageClient {
  readonly focused: boolean;
  focus(): Promise<unknown>;
  postMessage(message: Picked, transfer: readonly object[]): void;
}
interface WorkerEvent {
  readonly data: { json(): unknown } | null;
  readonly notification: Notification;
  /** Of the button that was pressed; empty: the notification itself. */
  readonly action: string;
  waitUntil(work: Promise<unknown>): void;
}

/** What a notification of ours carries. */
interface Shown {
  readonly subject: string;
  readonly token?: string | undefined;
}

const worker = globalThis as unknown as WorkerScope;
const ICON = "/page/icon.svg";
/** A browser wants to show something for every push; this is how long it is the note that nothing is to be done. */
const SETTLED_MS = 4_000;
/** Safari ends a subscription whose pushes show nothing, even while its page has the focus. */
const ALWAYS_SHOWS = /safari/i.test(navigator.userAgent) && !/chrom|android/i.test(navigator.userAgent);

worker.addEventListener("install", () => void worker.skipWaiting());
worker.addEventListener("push", (event) => {
  const notice = event.data?.json() as PushNotice | undefined;
  if (notice !== undefined) event.waitUntil(notice.state === "open" ? tell(notice) : settle(notice));
});
worker.addEventListener("notificationclick", (event) => event.waitUntil(press(event.notification, event.action)));

async function tell({ id, title, message = "", subject, sinceUnixMs, answer }: PushNotice): Promise<void> {
  // It is on the screen.
  const isWatched = (await pages()).some(({ focused }) => focused);
  if (isWatched && !ALWAYS_SHOWS) return;
  const data: Shown = { subject, token: answer?.token };
  // A browser shows as many as it can, the first ones.
  const actions = answer?.options.map(({ option, label }) => ({ action: String(option), title: label })) ?? [];
  const options = { body: message, tag: id, icon: ICON, timestamp: sinceUnixMs, silent: isWatched, actions, data };
  await worker.registration.showNotification(title, options);
}

/** In the place of what it takes back, without a sound, and gone at once. */
async function settle({ id, title, subject }: PushNotice): Promise<void> {
  await worker.registration.showNotification(title, { tag: id, icon: ICON, silent: true, data: { subject } });
  // After the event: at its end the browser looks whether anything is shown.
  systemClock.callAt(systemClock.nowMs() + SETTLED_MS, () => void close(id));
}

async function close(tag: string): Promise<void> {
  for (const notification of await worker.registration.getNotifications({ tag })) notification.close();
}

async function press(notification: Notification, action: string): Promise<void> {
  const { subject, token } = notification.data as Shown;
  if (action === "" || token === undefined) return pick(notification, subject);
  const words = await send(token, Number(action));
  const options = { body: words, tag: notification.tag, icon: ICON, silent: true, data: { subject } };
  await worker.registration.showNotification(notification.title, options);
}

/** What became of it, in words. */
async function send(token: string, option: number): Promise<string> {
  try {
    const response = await fetch("/api/answers", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token, option }),
    });
    const { words, message } = (await response.json()) as { readonly words?: string; readonly message?: string };
    return words ?? `not answered: ${message ?? response.status}`;
  } catch {
    return "not answered: tmuxwire cannot be reached; is the daemon running?";
  }
}

/** Goes to the agent. */
async function pick(notification: Notification, subject: string): Promise<void> {
  notification.close();
  const [page] = await pages();
  if (page === undefined) {
    await worker.clients.openWindow(`/#${encodeURIComponent(subject)}`);
    return;
  }
  page.postMessage({ picked: subject }, []);
  await page.focus();
}

/** It controls none of them. */
const pages = (): Promise<readonly PageClient[]> =>
  worker.clients.matchAll({ type: "window", includeUncontrolled: true });
