/** The body of every error of the native API: in a response, in a late response and on the WebSocket. */
import type { NativeErrorResponse } from "../../../protocol/api/native/nativeResponses.ts";
import type { VisibleError } from "../guard/httpErrors.ts";

export function errorBody({ status, message, error }: VisibleError): NativeErrorResponse {
  const details = status === 500 ? undefined : error.details;
  return { error: { code: error.code, message, ...(details === undefined ? {} : { details: { ...details } }) } };
}
