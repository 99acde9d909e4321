/** What the owner of a layout tells the server, from a command line or a page: that it is there, its layout, its results. */
import type { OperationErrorCode } from "../../../protocol/api/freshell/freshellErrors.ts";
import type { OwnerLayout } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { OwnerRequest, RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";

/** For the `hello` of everybody who takes part in the layout plane. */
export const DEVICE_CAPABILITIES = { layoutOwnershipV1: true, layoutRpcV1: true, devicePresenceV1: true } as const;

/** A sign of life. @param allow devices that may change this one's layout; `*` for each */
export const presenceMessage = (
  { ownerDeviceId, workspaceRevision }: OwnerLayout,
  allow: readonly string[],
): object => ({
  type: "device.presence",
  deviceId: ownerDeviceId,
  workspaceRevision,
  remoteControl: { allow },
});

export const layoutMessage = ({ ownerDeviceId, workspaceRevision, capturedAt, snapshot }: OwnerLayout): object => ({
  type: "layout.snapshot.updated",
  ownerDeviceId,
  workspaceRevision,
  capturedAt,
  snapshot,
});

/** The change is saved and published before its result is sent. */
export function answerRequest(
  request: OwnerRequest,
  respond: (request: OwnerRequest) => RpcOutcome,
  send: (message: object) => void,
): void {
  const { requestId, targetDeviceId } = request;
  send({ type: "layout.rpc.ack", requestId, targetDeviceId });
  send({ type: "layout.rpc.result", requestId, ...respond(request) });
}

/** The outcome of a request that was not sent, or got no answer. */
export const failed = (message: string, code: OperationErrorCode = "INTERNAL_ERROR"): RpcOutcome => ({
  ok: false,
  error: { code, message },
});
