/**
 * What a device saves: its layout, the revision, and the requests that must not be done again, in one piece, so that
 * one write holds all of a change or none of it. A saved layout without an owner or a revision gets them once.
 */
import * as v from "valibot";
import { matches } from "../../../protocol/api/parse.ts";
import {
  leavesOf,
  ownerSchema,
  type LayoutNode,
  type LayoutSnapshot,
  parseSnapshot,
} from "../../../protocol/api/freshell/deviceLayout.ts";
import { OnceMemory } from "../../../daemon/ops/once.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import { type Fields, fieldsOf, isFields } from "../../../protocol/text/jsonObject.ts";

const rememberedSchema = v.object({
  caller: v.string(),
  key: v.string(),
  /** Command and arguments. */
  asked: v.string(),
  atUnixMs: v.number(),
  appliedRevision: v.number(),
  result: v.record(v.string(), v.unknown()),
});
type RememberedRequest = v.InferOutput<typeof rememberedSchema>;

/** A device's requests are steps without a run that could be joined: of `Once` it has the memory alone. */
export const memoryOf = (requests: readonly RememberedRequest[], nowUnixMs: number): OnceMemory<RememberedRequest> =>
  new OnceMemory({
    maxEntries: 1_000,
    keptMs: 86_400_000,
    nowMs: () => nowUnixMs,
    entries: requests.map((one) => ({
      key: [one.caller, one.key],
      request: one.asked,
      result: one,
      atMs: one.atUnixMs,
    })),
  });

export type AskedWithKey = Pick<RememberedRequest, "caller" | "key" | "asked">;

export interface SavedDevice extends LayoutSnapshot {
  readonly ownerDeviceId: string;
  readonly workspaceRevision: number;
  readonly updatedAt: number;
  readonly requests: readonly RememberedRequest[];
}

/** Where a device saves it. Both are synchronous and throw on failure; what `save` has confirmed outlives the process. */
export interface DeviceStore {
  /** As it was saved; undefined: nothing yet. */
  load(): unknown;
  save(saved: SavedDevice): void;
}

interface OpenedDevice {
  readonly saved: SavedDevice;
  /** Differs from what was saved, and must be written. */
  readonly isMigrated: boolean;
}

const FIRST_REVISION = 1;

interface Stamp {
  readonly deviceId: string;
  readonly nowUnixMs: number;
  readonly newId: () => string;
}

/** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT when what was saved is not a layout */
export function openSaved(given: unknown, stamp: Stamp): OpenedDevice {
  if (given === undefined) return { saved: emptyDevice(stamp), isMigrated: false };
  if (!isFields(given)) throw invalidArgument("the saved layout is not an object");
  const { ownerDeviceId, workspaceRevision, updatedAt, requests, panes: _derived, ...layout } = given;
  const isWhole = ownerDeviceId === stamp.deviceId && isRevision(workspaceRevision);
  const { panes: _none, ...checked } = parseSnapshot(isWhole ? layout : stamped(layout, stamp), "layout");
  return {
    saved: {
      ...checked,
      ownerDeviceId: stamp.deviceId,
      workspaceRevision: isRevision(workspaceRevision) ? workspaceRevision : FIRST_REVISION,
      updatedAt: typeof updatedAt === "number" && Number.isFinite(updatedAt) ? updatedAt : stamp.nowUnixMs,
      requests: requestsOf(requests),
    },
    isMigrated: !isWhole,
  };
}

function emptyDevice({ deviceId, nowUnixMs }: Stamp): SavedDevice {
  return {
    tabs: [],
    layouts: {},
    activeTabId: null,
    activePane: {},
    ownerDeviceId: deviceId,
    workspaceRevision: FIRST_REVISION,
    updatedAt: nowUnixMs,
    requests: [],
  };
}

const isRevision = (given: unknown): given is number => Number.isSafeInteger(given) && (given as number) >= 1;

/** Fills in what is missing; the rest stays, and is checked afterwards. */
function stamped(layout: Fields, { deviceId, nowUnixMs, newId }: Stamp): Fields {
  const tabs = (Array.isArray(layout["tabs"]) ? layout["tabs"] : []).map((tab: Fields, at: number) => {
    const createdAt = numberOr(tab["createdAt"], nowUnixMs);
    return {
      title: `Tab ${at + 1}`,
      status: "running",
      ...tab,
      // Another device's tab stays that device's (F206).
      ownerDeviceId: matches(ownerSchema, tab["ownerDeviceId"]) ? tab["ownerDeviceId"] : deviceId,
      createdAt,
      updatedAt: numberOr(tab["updatedAt"], createdAt),
    };
  }) as (Fields & { readonly id?: unknown })[];
  const ids = tabs.map(({ id }) => String(id));
  const [layouts, active] = [fieldsOf(layout["layouts"]) ?? {}, fieldsOf(layout["activePane"]) ?? {}];
  const roots = ids.map((id): [string, unknown] => [
    id,
    Object.hasOwn(layouts, id) ? layouts[id] : { type: "leaf", id: newId(), content: { kind: "picker" } },
  ]);
  const { activeTabId } = layout;
  return {
    ...layout,
    tabs,
    layouts: Object.fromEntries(roots),
    activeTabId: ids.includes(String(activeTabId)) ? activeTabId : (ids[0] ?? null),
    activePane: Object.fromEntries(
      roots.map(([id, root]) => {
        const leaves = firstLeaves(root);
        return [id, leaves.find((one) => one === active[id]) ?? leaves[0] ?? ""];
      }),
    ),
  };
}

/** The tree has not been checked yet: what is not a tree has no leaves. */
function firstLeaves(root: unknown): readonly string[] {
  try {
    return leavesOf(root as LayoutNode).map(({ id }) => id);
  } catch {
    return [];
  }
}

const numberOr = (given: unknown, otherwise: number): number =>
  typeof given === "number" && Number.isFinite(given) ? given : otherwise;

const requestsOf = (given: unknown): readonly RememberedRequest[] =>
  (Array.isArray(given) ? given : []).filter((one): one is RememberedRequest => matches(rememberedSchema, one));
