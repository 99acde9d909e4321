import { describe, expect, test } from "vitest";
import { hostnameOf, isAllowedHost, isLoopbackAddress, urlHost } from "../../../../../adapters/kit/peers/addresses.ts";

describe("isLoopbackAddress", () => {
  test.each(["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])("%s is on this machine", (address) => {
    expect(isLoopbackAddress(address)).toBe(true);
  });
  test.each([
    undefined,
    "",
    "10.0.0.1",
    "128.0.0.1",
    "::2",
    "::ffff:10.0.0.1",
    "fe80::1",
    "127.evil.example",
    "1127.0.0.1",
  ])("%s is not", (address) => {
    expect(isLoopbackAddress(address)).toBe(false);
  });
});

describe("isAllowedHost", () => {
  const configured = new Set(["box.test"]);
  test.each(["localhost", "LOCALHOST:3341", "127.0.0.1:3341", "127.1.2.3", "[::1]", "[::1]:3341", "box.test:3341"])(
    "%s is allowed",
    (header) => {
      expect(isAllowedHost(header, configured)).toBe(true);
    },
  );
  test.each([
    undefined,
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost:3341@evil.example",
    "localhost:port",
    "localhost, evil.example",
    "[::1",
    "::1",
    "[evil.example]",
    "other.test",
  ])("%s is not", (header) => {
    expect(isAllowedHost(header, configured)).toBe(false);
  });
});

test("hostnameOf drops case, port and brackets", () => {
  expect(hostnameOf("Box.Test:80")).toBe("box.test");
  expect(hostnameOf("[::1]:80")).toBe("::1");
});

test("urlHost brackets IPv6 addresses only", () => {
  expect([urlHost("::1"), urlHost("localhost")]).toEqual(["[::1]", "localhost"]);
});
