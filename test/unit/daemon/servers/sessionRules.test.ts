/** Where a kept pane can end the server it is not kept: who asked for it is told, who can do without does. */
import { expect, test } from "vitest";
import { featuresOf } from "../../../../daemon/connection/tmuxFeatures.ts";
import { isKept } from "../../../../daemon/servers/sessionRules.ts";

test.each(["3.2", "3.2a"])("tmux %s", (version) => {
  const tmux = featuresOf(version);
  expect(isKept({}, tmux)).toBe(false);
  expect(isKept({ remainOnExit: "whereSafe" }, tmux)).toBe(false);
  expect(() => isKept({ remainOnExit: true }, tmux)).toThrow(/tmux 3\.3 or newer/);
});

test.each(["3.3", "3.3a", "3.7c", "next-3.8"])("tmux %s", (version) => {
  const tmux = featuresOf(version);
  expect(isKept({}, tmux)).toBe(false);
  expect(isKept({ remainOnExit: "whereSafe" }, tmux)).toBe(true);
  expect(isKept({ remainOnExit: true }, tmux)).toBe(true);
});
