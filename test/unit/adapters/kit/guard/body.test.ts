import { describe, expect, test } from "vitest";
import { isJsonContentType, parseJson } from "../../../../../adapters/kit/guard/body.ts";
import { bearerVerifier } from "../../../../../adapters/kit/guard/bearer.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("parseJson", () => {
  test.each([
    ["", "Missing JSON request body."],
    [" \n\t", "Missing JSON request body."],
    ["{", "Invalid JSON body."],
  ])("%j is refused: %s", (text, message) => {
    expect(() => parseJson(bytes(text))).toThrow(message);
  });
  test("bytes that are not UTF-8 are refused, not replaced", () => {
    expect(() => parseJson(new Uint8Array([0x22, 0xff, 0x22]))).toThrow("Invalid JSON body.");
  });
  test("a byte order mark and blanks around the value are no part of it", () => {
    expect(parseJson(bytes('\ufeff {"a":"é😀"} '))).toEqual({ a: "é😀" });
  });
});

describe("isJsonContentType", () => {
  test.each([undefined, "", "application/json", "Application/JSON; charset=utf-8", "application/problem+json"])(
    "%s is accepted",
    (header) => expect(isJsonContentType(header)).toBe(true),
  );
  test.each([
    "text/plain",
    "text/plain;application/json",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "x",
  ])("%s is not", (header) => expect(isJsonContentType(header)).toBe(false));
});

describe("bearerVerifier", () => {
  const verify = bearerVerifier("s3cret");
  test.each(["Bearer s3cret", "Bearer   s3cret  "])("%s is accepted", (header) => expect(verify(header)).toBe(true));
  test.each([
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "bearer s3cret",
    "BEARER s3cret",
    "s3cret",
    "Bearer s3cret2",
    "Bearer s3cre",
  ])("%s is not", (header) => expect(verify(header)).toBe(false));
});
