import { expect, test } from "vitest";
import { createNonce, nonceCommand } from "../../../../daemon/connection/framing.ts";
import type { PaneId } from "../../../../protocol/ids.ts";

test("a nonce is 26 characters of a set of 58: 152 bits", () => {
  const nonces = Array.from({ length: 20_000 }, createNonce);
  for (const nonce of nonces) expect(nonce).toMatch(/^[0-5A-Za-z]{26}$/);
  expect(new Set(nonces).size).toBe(nonces.length);

  const counts = new Map<string, number>();
  for (const char of nonces.join("")) counts.set(char, (counts.get(char) ?? 0) + 1);
  expect(counts.size).toBe(58);
  // 8,966 expected of each, σ ≈ 94: eight σ never happens, a modulo bias of 1/4 would.
  for (const count of counts.values()) expect(Math.abs(count - (20_000 * 26) / 58)).toBeLessThan(8 * 94);
});

test("the command prints the nonce backwards, a blank and the trailer", () => {
  expect(nonceCommand("abc", "")).toBe('display-messag -p "cba "');
  expect(nonceCommand("abc", "#{pane_id}", "%7" as PaneId)).toBe('display-messag -p -t %7 "cba \\043{pane_id}"');
});
