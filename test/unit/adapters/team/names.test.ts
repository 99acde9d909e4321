import { expect, test } from "vitest";
import { attachArgv, captureHint, hasPrefix, nextSessionName, shellLine } from "../../../../adapters/team/names.ts";

test("the next name is one more than the highest of exactly this prefix", () => {
  const taken = ["p-1", "p-3", "p-x", "p-04", "pq-9", "p-1-7", "p", "q-8"];
  expect(nextSessionName("p", taken)).toBe("p-4");
  expect(nextSessionName("p-1", taken)).toBe("p-1-8");
  expect(nextSessionName("q", [])).toBe("q-1");
  expect(nextSessionName("v1.2", ["v1_2-4"])).toBe("v1_2-5");
});

test("a prefix is literal", () => {
  expect(hasPrefix("worker-1", undefined)).toBe(true);
  expect(hasPrefix("worker-1", "work")).toBe(true);
  expect(hasPrefix("worker-1", "w.rker")).toBe(false);
  expect(hasPrefix("v1_2-1", "v1.2")).toBe(true);
});

test("commands are for a shell, words with blanks quoted", () => {
  expect(shellLine(attachArgv("/home/me/tmux.sock", "worker-1"))).toBe("tmux -S /home/me/tmux.sock attach -t worker-1");
  expect(shellLine(["tmux", "/it's here", "$x"])).toBe(String.raw`tmux '/it'\''s here' '$x'`);
  expect(captureHint("worker-1")).toBe('team_tmux_capture {"sessionName":"worker-1","lines":1000}');
});
