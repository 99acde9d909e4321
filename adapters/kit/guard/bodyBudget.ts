/** Bounds the bytes that bodies and messages of all listeners in this process hold at once. */
import { ByteBudget } from "../../../daemon/ops/byteBudget.ts";
import {
  BODY_BYTES_FOR_LITTLE,
  MAX_BODY_BYTES_ALONE,
  MAX_BODY_BYTES_EACH,
  MAX_BODY_BYTES_UNDER_WAY,
} from "../peers/httpLimits.ts";

export const bodyBudget = new ByteBudget({
  maxBytes: MAX_BODY_BYTES_UNDER_WAY,
  maxBytesEach: MAX_BODY_BYTES_EACH,
  maxBytesAlone: MAX_BODY_BYTES_ALONE,
  forLittleBytes: BODY_BYTES_FOR_LITTLE,
});
