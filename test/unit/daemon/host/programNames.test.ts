import { expect, test } from "vitest";
import { namesOf, readsCommands } from "../../../../daemon/host/programNames.ts";

test.each([
  ["bash", true],
  ["-zsh", true],
  ["bash --rcfile /etc/rc -i", true],
  ["zsh -o extendedglob -f", true],
  ["bash -c ls", false],
  ["bash -ic ls", false],
  ["sh launch.sh", false],
  ["bash --norc launch.sh", false],
])("a shell started as `%s` reads commands: %s", (line, reads) => {
  expect(readsCommands(line.split(" "))).toBe(reads);
});

test.each([
  [
    "node /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js",
    ["node", "node", "gemini.js", "@google/gemini-cli"],
  ],
  ["node /p/node_modules/.bin/claude", ["node", "node", "claude"]],
  ["node server.js", ["node", "node", "server.js"]],
])("`%s` is called %j", (line, names) => {
  expect(namesOf("node", line.split(" "))).toEqual(names);
});
