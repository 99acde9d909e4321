import { expect, test } from "vitest";
import { hostnameOf, urlHost } from "../../../../../adapters/kit/peers/addresses.ts";

test("hostnameOf drops case, port and brackets", () => {
  expect(hostnameOf("Box.Test:80")).toBe("box.test");
  expect(hostnameOf("[::1]:80")).toBe("::1");
});

test("urlHost brackets IPv6 addresses only", () => {
  expect([urlHost("::1"), urlHost("localhost")]).toEqual(["[::1]", "localhost"]);
});
