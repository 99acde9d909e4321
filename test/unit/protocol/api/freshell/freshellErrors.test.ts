/** What leaves the Freshell adapter (F214–F216): every code of the daemon's, as one of the contract's. */
import { describe, expect, test } from "vitest";
import { faultOf, OPERATION_ERROR_CODES, statusOf } from "../../../../../protocol/api/freshell/freshellErrors.ts";
import { AppError, ERROR_SURFACES, type ErrorCode } from "../../../../../protocol/errors.ts";

const CODES = Object.keys(ERROR_SURFACES) as ErrorCode[];
const CAUSES = ["CONNECTION_LOST", "TMUX_UNAVAILABLE", "TMUX_COMMAND_FAILED", "PROTOCOL_ERROR", "COMMAND_TIMEOUT"];

describe("F214 F215 F216: codes", () => {
  test("the fifteen of the seed", () => {
    expect(OPERATION_ERROR_CODES).toHaveLength(15);
  });

  test.each(CODES)("%s leaves as one of the fifteen, with its status", (code) => {
    const error = new AppError(code, "what happened", { details: { limit: 3, close: true } });
    const fault = faultOf(error);
    expect(OPERATION_ERROR_CODES).toContain(fault.code);
    expect(fault.details).toMatchObject({ limit: 3 });
    expect(fault.details).not.toHaveProperty("close");
    if (CAUSES.includes(code)) {
      expect(fault.code).toBe("INTERNAL_ERROR");
      expect(fault.details).toMatchObject({ cause: code, retry: expect.any(Boolean) as boolean });
      expect(statusOf(error)).toBe(500);
    }
    if ((OPERATION_ERROR_CODES as readonly string[]).includes(code)) {
      expect(fault.code).toBe(code);
      expect(statusOf(error)).toBe(ERROR_SURFACES[code].httpStatus);
    }
  });

  test("a name that is taken is an argument; a refusal of the listener keeps its status and says which it is", () => {
    const taken = new AppError("ALREADY_EXISTS", "duplicate session: a");
    expect([faultOf(taken), statusOf(taken)]).toEqual([
      { code: "INVALID_ARGUMENT", message: "duplicate session: a" },
      400,
    ]);
    const large = new AppError("BODY_TOO_LARGE", "Request body too large.", { details: { close: false } });
    expect([faultOf(large), statusOf(large)]).toEqual([
      { code: "INVALID_ARGUMENT", message: "Request body too large.", details: { reason: "body_too_large" } },
      413,
    ]);
    expect(faultOf(new AppError("FORBIDDEN", "no")).code).toBe("UNAUTHORIZED");
  });

  test("a bug's own words stay inside, and input whose fate is unknown is not to be sent again", () => {
    expect(faultOf(new AppError("INTERNAL_ERROR", "secret of a bug")).message).not.toContain("secret");
    const lost = new AppError("CONNECTION_LOST", "the connection was lost", { details: { delivery: "indeterminate" } });
    expect(faultOf(lost).details).toMatchObject({ retry: false, delivery: "indeterminate" });
  });
});
