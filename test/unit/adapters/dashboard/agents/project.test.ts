import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgentBook } from "../../../../../adapters/dashboard/agents/agentBook.ts";
import { projectOf } from "../../../../../adapters/dashboard/agents/project.ts";
import type { ProjectRecord } from "../../../../../adapters/dashboard/store/records.ts";

function bookOf(...paths: readonly string[]): AgentBook {
  const projects = new Map(paths.map((path): [string, ProjectRecord] => [path, record(path)]));
  return {
    project: (path: string) => projects.get(path),
    putProject: ({ path }: ProjectRecord) => record(path),
  } as AgentBook;
}
const record = (path: string): ProjectRecord => ({ id: 1, name: "", path, branch: undefined });

const HOME = homedir();

test.each([
  ["the innermost that is registered", ["/srv", "/srv/shop"], "/srv/shop/web/", true, "/srv/shop"],
  ["itself, where none is", ["/srv/other"], "/srv/shop/../shop", true, "/srv/shop"],
  ["none, where none may be made", ["/srv/other"], "/srv/shop", false, undefined],
  ["not the root, in which somebody has started one", ["/"], "/srv/shop", true, "/srv/shop"],
  ["not the home directory either", [HOME, "/"], join(HOME, "shop"), true, join(HOME, "shop")],
  ["the home directory for what runs in it", [HOME], HOME, true, HOME],
  ["the home directory, where none may be made", [HOME], join(HOME, "shop"), false, HOME],
  ["none for a relative path", ["/"], "shop", true, undefined],
])("%s", (_what, registered, directory, registers, expected) => {
  expect(projectOf(directory, { book: bookOf(...registered), registers })?.path).toBe(expected);
});
