/** Joins the parts: the page, its connection, the profile, the document. */
import { render } from "preact";
import { systemClock } from "../../../daemon/time/clock.ts";
import { startPage } from "../../pages/startPage.ts";
import { newId } from "../newId.ts";
import { type BrowserDevice, keepDevice, STORAGE_KEYS, storedDevice } from "./device/deviceStorage.ts";
import { elect, oneAtATime, type PageMessage } from "./device/profilePages.ts";
import { DevicePage } from "./devicePage.ts";
import { actionFor } from "./model/deviceKeys.ts";
import { activeTab } from "./ui/deviceState.ts";
import { PageLogin } from "./net/pageApi.ts";
import { act } from "./ui/deviceActions.ts";
import { DeviceApp } from "./ui/deviceApp.tsx";
import { hasUnsaved } from "./ui/editorPane.tsx";

/** Absent on a page loaded over plain HTTP from another machine. */
const locks = (navigator as Partial<Pick<Navigator, "locks">>).locks;

/** Of several concurrent first pages, one makes it. */
async function thisDevice(): Promise<BrowserDevice> {
  return oneAtATime(
    locks,
    "freshell.device",
  )(() => {
    const known = storedDevice(localStorage);
    if (known !== undefined) return Promise.resolve(known);
    const made = { deviceId: newId(), deviceLabel: `${browserName()}-${newId().slice(0, 4)}` };
    keepDevice(localStorage, made);
    return Promise.resolve(made);
  });
}

function browserName(): string {
  const { userAgent } = navigator;
  const name = ["Firefox", "Edg", "Chrome", "Safari"].find((one) => userAgent.includes(`${one}/`)) ?? "Browser";
  const system = ["Android", "iPhone", "iPad", "Windows", "Mac", "Linux"].find((one) => userAgent.includes(one));
  return `${name === "Edg" ? "Edge" : name}-${system ?? location.hostname}`;
}

async function main(): Promise<void> {
  const device = await thisDevice();
  const fetch = (path: string, init?: RequestInit): Promise<Response> => globalThis.fetch(path, init);
  const login = new PageLogin({
    store: localStorage,
    fetch,
    device,
    nowUnixMs: Date.now,
    alone: oneAtATime(locks, "freshell.login"),
  });
  const shared = new BroadcastChannel("freshell.device");
  const heartbeats = new Worker("/device/heartbeat.js", { type: "module" });
  const page: DevicePage = new DevicePage({
    device,
    login,
    store: localStorage,
    channel: {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel of this origin has none
      post: (message) => shared.postMessage(message),
      listen: (listener) => {
        shared.addEventListener("message", ({ data }: MessageEvent<PageMessage>) => listener(data));
      },
    },
    fetch,
    openSocket: () => new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`),
    clock: systemClock,
    nowUnixMs: Date.now,
    random: Math.random,
    newId,
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker of ours has none
    heartbeatEvery: (ms) => heartbeats.postMessage(ms),
    onChange: () => redraw(),
  });
  const redraw = startPage({
    draw: (root) => {
      const title = activeTab(page.state)?.title;
      document.title = title === undefined ? "Freshell" : `${title} · Freshell`;
      render(<DeviceApp page={page} />, root);
    },
    onKey: (event) => {
      const action = actionFor(event);
      if (action === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat || action.kind === "focus" || action.kind === "grow" || action.kind === "shrink")
        act(page, action);
    },
    onReturn: () => page.retryNow(),
  });
  heartbeats.addEventListener("message", () => page.sendHeartbeat());
  globalThis.addEventListener("storage", ({ key }) => {
    if (key === STORAGE_KEYS.login) page.retryNow();
  });
  globalThis.addEventListener("beforeunload", (event) => {
    if (hasUnsaved()) event.preventDefault();
  });
  elect({ locks, onLeader: () => page.lead(), onFollower: () => page.follow() });
}

await main();
