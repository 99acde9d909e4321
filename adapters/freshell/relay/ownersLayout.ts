/** Validates the layout sent by an owner: a third-party device may send anything. */
import * as v from "valibot";
import { tryParse } from "../../../protocol/api/parse.ts";
import { parseSnapshot } from "../../../protocol/api/freshell/deviceLayout.ts";
import { revisionSchema, type RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { badResult } from "./outcomes.ts";
import type { Device } from "./presence.ts";

const layoutSchema = v.looseObject({
  ownerDeviceId: v.string(),
  workspaceRevision: revisionSchema,
  capturedAt: v.pipe(v.number(), v.finite()),
  snapshot: v.unknown(),
});

/** The result of a `read` unchanged, or why it is invalid. */
export function ownersLayout(device: Device, outcome: RpcOutcome): RpcOutcome {
  if (!outcome.ok) return outcome;
  const parsed = tryParse(layoutSchema, outcome.result);
  if (!parsed.success) return badResult("read gives ownerDeviceId, workspaceRevision, capturedAt and snapshot");
  const { ownerDeviceId, workspaceRevision, snapshot } = parsed.output;
  if (ownerDeviceId !== device.deviceId) return badResult("the layout is another device's");
  try {
    parseSnapshot(snapshot);
  } catch (error) {
    return badResult(toAppError(error).message);
  }
  device.workspaceRevision = workspaceRevision;
  return outcome;
}
