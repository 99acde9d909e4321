/** Folders have few files. Files are put in their place, and private ones made, in one room. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const ROOM = "daemon/ops/privateFiles.ts";

const sources = ["protocol", "daemon", "adapters"].flatMap((layer) =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${layer}/${name}`),
);

/** What a file takes from node's file system; a whole namespace counts as everything. */
function taken(text: string): readonly string[] {
  const imports = text.matchAll(/import\s+(?!type\b)([^;]*?)\s+from\s+["'](?:node:)?fs(?:\/promises)?["']/g);
  return [...imports].flatMap(([, names = ""]) =>
    names.startsWith("{") ? names.split(/[{},]/).map((name) => name.trim().split(" ")[0] ?? "") : ["*"],
  );
}

const files = sources.map((file) => {
  const text = readFileSync(join(ROOT, file), "utf8");
  return { file, text, taken: taken(text) };
});
const takers = (names: RegExp): readonly string[] =>
  files.filter((each) => each.taken.some((name) => names.test(name))).map(({ file }) => file);

test("a file gets its name by a rename or a link in one room, but for a few named places", () => {
  expect(takers(/^(?:\*|rename|link)(?:Sync)?$/).toSorted()).toEqual(
    [
      ROOM,
      // sets a damaged database aside, with its log
      "daemon/ops/sql/database.ts",
      // sets a layout aside that is not one
      "adapters/freshell/cli/ownDevice.ts",
      // rotates: every file gets the next one's name
      "adapters/freshell/relay/lineFile.ts",
    ].toSorted(),
  );
});

test("a file is written whole in one room, but where replacing it would lose its hard links or its owner", () => {
  expect(takers(/^writeFile(?:Sync)?$/).toSorted()).toEqual([ROOM, "adapters/freshell/files/textFiles.ts"].toSorted());
});

test("a private file is opened or closed to others in one room, but for those that grow, databases and sockets", () => {
  const opens = takers(/^(?:open|openSync|chmod|chmodSync|fchmodSync)$/);
  const isPrivate = ({ file, text }: (typeof files)[number]): boolean => opens.includes(file) && text.includes("0o600");
  expect(
    files
      .filter(isPrivate)
      .map(({ file }) => file)
      .toSorted(),
  ).toEqual(
    [
      ROOM,
      "daemon/ops/sql/database.ts",
      "daemon/ops/sql/soleOwner.ts",
      "adapters/native/localListener.ts",
      // grow line by line
      "daemon/recordings/recording.ts",
      "adapters/commands/programs/recCommand.ts",
      "adapters/freshell/relay/lineFile.ts",
      // a daemon's own log
      "adapters/serving/autostart.ts",
    ].toSorted(),
  );
});

/** More than so many want folders of their own, each with a name that says what is in it. */
const MOST = 20;

test("a folder has no more files than a reader takes in at a glance", () => {
  const counts = new Map<string, number>();
  for (const layer of ["protocol", "daemon", "adapters"]) {
    for (const entry of readdirSync(join(ROOT, layer), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
    }
  }
  expect([...counts].filter(([, count]) => count > MOST)).toEqual([]);
});
