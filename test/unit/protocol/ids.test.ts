import { describe, expect, test } from "vitest";
import { AppError, ERROR_SURFACES, type ErrorCode, isCutShort, toAppError } from "../../../protocol/errors.ts";
import { isPaneId, isSessionId, isWindowId, paneIdOf, paneNumberOf } from "../../../protocol/ids.ts";
import { formatPosition, parsePosition } from "../../../protocol/position.ts";

describe("ids", () => {
  test("each guard takes its own sigil and digits only", () => {
    const words = ["%0", "@0", "$0", "%12", "%", "%1 ", " %1", "%1\n", "%-1", "%1.2", "%a", "0", "", "%12345678901"];
    expect(words.filter(isPaneId)).toEqual(["%0", "%12"]);
    expect(words.filter(isWindowId)).toEqual(["@0"]);
    expect(words.filter(isSessionId)).toEqual(["$0"]);
  });

  test("pane numbers and ids are each other's inverse", () => {
    expect(paneIdOf(7)).toBe("%7");
    expect(paneNumberOf(paneIdOf(4_294_967_295))).toBe(4_294_967_295);
  });
});

describe("positions", () => {
  test("text and back", () => {
    const position = { epoch: "a1B2", outputSeq: 12_345 };
    expect(formatPosition(position)).toBe("a1B2:12345");
    expect(parsePosition("a1B2:12345")).toEqual(position);
    expect(parsePosition(`e:${Number.MAX_SAFE_INTEGER}`).outputSeq).toBe(Number.MAX_SAFE_INTEGER);
  });

  test.each([
    "",
    "e",
    "e:",
    ":1",
    "e:-1",
    "e:1.5",
    "e:1 ",
    "e:1\n",
    "e f:1",
    "e:9007199254740993",
    `${"e".repeat(33)}:1`,
  ])("%j is none", (text) => {
    expect(() => parsePosition(text)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });
});

describe("errors", () => {
  test("every code has a status an HTTP client understands and an exit code a shell can carry", () => {
    for (const [code, { httpStatus, exitCode }] of Object.entries(ERROR_SURFACES)) {
      expect({ code, ok: httpStatus >= 400 && httpStatus < 600 }).toEqual({ code, ok: true });
      expect({ code, ok: exitCode > 0 && exitCode < 128 }).toEqual({ code, ok: true });
    }
  });

  test("a call is cut short by tmux, its caller or the daemon; what is refused is not", () => {
    const cut = ["CONNECTION_LOST", "CANCELLED", "SHUTTING_DOWN"];
    const codes = Object.keys(ERROR_SURFACES) as ErrorCode[];
    expect(codes.filter((code) => isCutShort(new AppError(code, "x"))).toSorted()).toEqual(cut.toSorted());
    expect(isCutShort(new Error("CONNECTION_LOST"))).toBe(false);
  });

  test("what is not ours becomes an internal error that carries it", () => {
    const bug = new TypeError("x is undefined");
    expect(toAppError(bug)).toMatchObject({ code: "INTERNAL_ERROR", cause: bug });
    expect(toAppError("text")).toMatchObject({ code: "INTERNAL_ERROR", message: "text" });
    const ours = new AppError("NOT_FOUND", "gone", { details: { id: 1 } });
    expect(toAppError(ours)).toBe(ours);
    expect("cause" in ours).toBe(false);
  });
});
