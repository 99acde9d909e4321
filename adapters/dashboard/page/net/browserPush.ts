/** This browser as a channel of the daemon's notifications: its service worker, and its subscription with a push service. */
import type { NativeChannel } from "../../../../protocol/api/native/nativeNotifications.ts";
import { Refused } from "../../../pages/askServer.ts";
import { browserName } from "../words/browserName.ts";
import type { Api } from "./api.ts";

/** What a service worker says when somebody has pressed on a notification: the agent's id, or a host's name. */
export interface Picked {
  readonly picked: string;
}

export interface PushChoice {
  /** What agents ask and say is shown, too. */
  readonly text: boolean;
  /** Questions have buttons that answer them; with text alone. */
  readonly answers: boolean;
}

const SCRIPT = "/page/serviceWorker.js";
/** There is no document in it. */
const SCOPE = "/page/";

const isPossible = (): boolean => "serviceWorker" in navigator && "PushManager" in globalThis;

/** What the daemon knows of this browser; undefined: it never has subscribed. @throws Refused */
export async function knownBrowser(api: Api): Promise<NativeChannel | "removed" | undefined> {
  const subscription = await (isPossible() ? subscriptionNow() : undefined);
  if (subscription === undefined) return undefined;
  // The newest one, which a browser looks for by itself only once a day.
  await navigator.serviceWorker.register(SCRIPT, { scope: SCOPE });
  try {
    return await api.push("show", { url: subscription.endpoint });
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
    await subscription.unsubscribe();
    return "removed";
  }
}

/** Call it once the person has allowed notifications. @throws Error with a message for that person */
export async function subscribeBrowser(api: Api, { text, answers }: PushChoice): Promise<NativeChannel> {
  if (!isPossible()) throw new Error("this browser has no Web Push");
  const key = await api.pushKey();
  const registration = await activeWorker();
  const subscription = await subscribedWith(registration, key);
  const { endpoint: url, keys } = subscription.toJSON();
  const channel = { name: browserName(navigator.userAgent), url, keys, text, answers };
  return api.push("", channel);
}

/** @throws Refused */
export async function unsubscribeBrowser(api: Api): Promise<void> {
  const subscription = await (isPossible() ? subscriptionNow() : undefined);
  if (subscription === undefined) return;
  await subscription.unsubscribe();
  await api.push("remove", { url: subscription.endpoint }).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.status !== 404) throw error;
  });
}

/** @throws Refused which says why it could not be sent */
export async function testBrowser(api: Api): Promise<void> {
  const subscription = await subscriptionNow();
  if (subscription !== undefined) await api.push("test", { url: subscription.endpoint });
}

async function subscriptionNow(): Promise<PushSubscription | undefined> {
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  return (await registration?.pushManager.getSubscription()) ?? undefined;
}

/** One that is not active cannot subscribe. */
async function activeWorker(): Promise<ServiceWorkerRegistration> {
  const registration = await navigator.serviceWorker.register(SCRIPT, { scope: SCOPE });
  const coming = registration.installing ?? registration.waiting;
  if (registration.active === null && coming !== null) {
    await new Promise<void>((resolve, reject) => {
      coming.addEventListener("statechange", () => {
        if (coming.state === "activated") resolve();
        if (coming.state === "redundant") reject(new Error("the page's service worker could not be installed"));
      });
    });
  }
  return registration;
}

/** A subscription belongs to one key. */
async function subscribedWith({ pushManager }: ServiceWorkerRegistration, key: string): Promise<PushSubscription> {
  const options = { userVisibleOnly: true, applicationServerKey: key };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    // The daemon has other keys than when this browser subscribed.
    if (!(error instanceof DOMException) || error.name !== "InvalidStateError") {
      throw new Error("this browser cannot reach its push service", { cause: error });
    }
    await (await pushManager.getSubscription())?.unsubscribe();
    return pushManager.subscribe(options);
  }
}
