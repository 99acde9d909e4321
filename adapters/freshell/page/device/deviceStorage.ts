/**
 * What a browser profile keeps of its device: its identity, its layout, whom it allows, and its login. A stored
 * text that is not a layout is moved to another key and reported, never discarded silently.
 */
import { DeviceRuntime, openDevice } from "../../devices/deviceRuntime.ts";
import type { DeviceStore } from "../../devices/savedDevice.ts";
import type { Timed } from "../../../../daemon/time/clock.ts";
import type { OwnerLayout } from "../../../../protocol/api/freshell/deviceLayout.ts";
import { DEVICE_ID } from "../../../../protocol/api/freshell/freshellHttp.ts";
import { AppError, invalidArgument } from "../../../../protocol/errors.ts";
import { type Fields, fieldsOf, parseJson } from "../../../../protocol/text/jsonObject.ts";
import { legacyLayout } from "../model/legacyLayout.ts";

/** Of `localStorage`. */
export interface TextStore {
  getItem(key: string): string | null;
  setItem(key: string, text: string): void;
  removeItem(key: string): void;
}

export const STORAGE_KEYS = {
  device: "freshell.device.v1",
  layout: "freshell.device-layout.v1",
  allow: "freshell.device-allow.v1",
  login: "freshell.device-login.v1",
  /** Of an earlier page; read once and left in place. */
  legacyTabs: "freshell.tabs.v1",
  legacyPanes: "freshell.panes.v1",
} as const;

export interface BrowserDevice {
  readonly deviceId: string;
  readonly deviceLabel: string;
}

export function storedDevice(store: TextStore): BrowserDevice | undefined {
  const { deviceId, deviceLabel } = objectIn(store, STORAGE_KEYS.device);
  if (typeof deviceId !== "string" || !DEVICE_ID.test(deviceId)) return undefined;
  return { deviceId, deviceLabel: typeof deviceLabel === "string" && deviceLabel !== "" ? deviceLabel : deviceId };
}

export function keepDevice(store: TextStore, device: BrowserDevice): void {
  store.setItem(STORAGE_KEYS.device, JSON.stringify(device));
}

/** Ids of devices that may change this one's layout, or `*`. */
export function storedAllow(store: TextStore): readonly string[] {
  const { allow } = objectIn(store, STORAGE_KEYS.allow);
  return (Array.isArray(allow) ? (allow as unknown[]) : []).filter((one): one is string => isAllowWord(one));
}

export function keepAllow(store: TextStore, allow: readonly string[]): void {
  store.setItem(STORAGE_KEYS.allow, JSON.stringify({ allow }));
}

const isAllowWord = (one: unknown): boolean => typeof one === "string" && (one === "*" || DEVICE_ID.test(one));

interface OpenDeviceOptions extends Timed {
  readonly store: TextStore;
  readonly deviceId: string;
  readonly newId: () => string;
  readonly onChange: (layout: OwnerLayout) => void;
}

interface OpenedRuntime {
  readonly runtime: DeviceRuntime;
  /** A note for the person. */
  readonly note?: string | undefined;
}

/** @throws AppError INTERNAL_ERROR when nothing can be stored */
export function openStoredDevice(options: OpenDeviceOptions): OpenedRuntime {
  const { store, nowUnixMs } = options;
  if (store.getItem(STORAGE_KEYS.layout) === null) return openFirst(options);
  let note: string | undefined;
  const runtime = openDevice({ ...options, store: layoutStore(store) }, () => {
    const aside = `${STORAGE_KEYS.layout}.broken-${nowUnixMs()}`;
    moveAside(store, aside);
    note = `The stored layout is not valid: it was moved to ${aside}, and a new layout was made.`;
  });
  return { runtime, note };
}

/** Migrates an earlier page's layout, or leaves it in place. */
function openFirst(options: OpenDeviceOptions): OpenedRuntime {
  const { store, newId } = options;
  const [tabs, panes] = [store.getItem(STORAGE_KEYS.legacyTabs), store.getItem(STORAGE_KEYS.legacyPanes)];
  const kept = layoutStore(store);
  const open = (from: DeviceStore): DeviceRuntime => new DeviceRuntime({ ...options, store: from });
  const left = "The layout of an earlier page could not be imported; it was left where it is.";
  if (tabs === null && panes === null) return { runtime: open(kept) };
  const legacy = legacyLayout({ tabs, panes }, newId);
  if (legacy === undefined) return { runtime: open(kept), note: tabs === null ? undefined : left };
  try {
    return { runtime: open({ ...kept, load: () => legacy }), note: "The tabs of an earlier page were imported." };
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
    return { runtime: open(kept), note: left };
  }
}

const layoutStore = (store: TextStore): DeviceStore => ({
  load: () => {
    const text = store.getItem(STORAGE_KEYS.layout);
    if (text === null) return undefined;
    const saved = parseJson(text);
    if (saved !== undefined) return saved;
    throw invalidArgument("the stored layout is not JSON");
  },
  save: (saved) => {
    try {
      store.setItem(STORAGE_KEYS.layout, JSON.stringify(saved));
    } catch (cause) {
      throw new AppError("INTERNAL_ERROR", "the browser's storage is full", { cause });
    }
  },
});

/** Two copies may exceed the storage: the text is removed first, and restored if moving it fails. */
function moveAside(store: TextStore, aside: string): void {
  const text = store.getItem(STORAGE_KEYS.layout);
  if (text === null) return;
  store.removeItem(STORAGE_KEYS.layout);
  try {
    store.setItem(aside, text);
  } catch (cause) {
    store.setItem(STORAGE_KEYS.layout, text);
    throw new AppError("INTERNAL_ERROR", "the stored layout is not valid, and could not be moved aside", { cause });
  }
}

export const objectIn = (store: TextStore, key: string): Fields => fieldsOf(parseJson(store.getItem(key) ?? "")) ?? {};
