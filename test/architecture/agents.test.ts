/**
 * The catalogue (`adapters/agents`) is the one place that names an agent: a folder for each, found by reading it. What
 * else may say a name is a contract's own word, and stands here with its reason.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { loadStreams } from "../../adapters/agents/agentStream.ts";
import { loadTranscripts } from "../../adapters/agents/agentTranscript.ts";
import { profilesOf } from "../../adapters/agents/agentProfiles.ts";
import { readAgents } from "../../adapters/agents/catalogue.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const CATALOGUE = "adapters/agents";

/** Files, and folders with what is below them. */
const MAY_NAME: Readonly<Record<string, string>> = {
  "protocol/api/freshell/sessionNames.ts": "the programs of sessions, as Freshell's clients name them",
  "protocol/api/freshell/freshellHttp.ts": "a terminal's modes, likewise",
  "protocol/api/freshell/selectors.ts": "a session's providers, likewise",
  "adapters/team/": "its contract is pi-team's: workers are pi, and the extension runs inside pi",
};

/** Words that hold a name, wherever they stand. */
const CONTRACT_WORDS: Readonly<Record<string, string>> = {
  "claude-chat": "a pane's content in layouts of earlier devices",
  claude_session_id: "a column of the dashboard's database",
  "pi-for-excel": "the add-in's origin and folders",
};

const names = readdirSync(join(ROOT, CATALOGUE), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(join(ROOT, CATALOGUE, entry.name, "agent.json")))
  .map(({ name }) => name);

/** A short name counts as a word only: it is in many others. */
const NAMED = new RegExp(names.map((name) => (name.length > 3 ? name : `(?<![\\w-])${name}(?![\\w-])`)).join("|"), "i");

test("nothing but the catalogue names an agent, comments included", () => {
  const files = ["protocol", "daemon", "adapters"].flatMap((layer) =>
    readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:tsx?|mjs|json|html|css)$/.test(name))
      .map((name) => `${layer}/${name}`),
  );
  const offences = files
    .filter((file) => !names.some((name) => file.startsWith(`${CATALOGUE}/${name}/`)))
    .filter((file) => !Object.keys(MAY_NAME).some((place) => file.startsWith(place)))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), "utf8")
        .split("\n")
        .filter((line) => NAMED.test(without(line)))
        .map((line) => `${file}: ${line.trim()}`),
    );
  expect(offences).toEqual([]);
});

test("what may name one does", () => {
  const texts = Object.keys(MAY_NAME).map((place) => {
    const path = join(ROOT, place);
    const files = place.endsWith("/")
      ? readdirSync(path, { recursive: true, encoding: "utf8" })
          .map((name) => join(path, name))
          .filter((name) => name.endsWith(".ts"))
      : [path];
    return [place, files.map((file) => readFileSync(file, "utf8")).join("")] as const;
  });
  expect(texts.filter(([, text]) => !NAMED.test(text)).map(([place]) => place)).toEqual([]);
});

const without = (line: string): string =>
  Object.keys(CONTRACT_WORDS).reduce((text, word) => text.replaceAll(word, ""), line);

test("every folder is an agent: its profile has its name, its JSON mode a parser, its plugin code", async () => {
  const agents = readAgents();
  expect(agents.map(({ name }) => name)).toEqual(names.toSorted());
  const profiled = agents.filter(({ profile }) => profile !== undefined);
  expect(profilesOf(agents).map(({ name, kind }) => [name, kind])).toEqual(profiled.map(({ name }) => [name, "agent"]));
  const [streams, transcripts] = [await loadStreams(agents), await loadTranscripts(agents)];
  for (const { name, stream, transcript, hooks, plugin } of agents) {
    const file = join(ROOT, CATALOGUE, name, `${name}Stream.ts`);
    expect([name, existsSync(file), streams.get(name)?.conversationArgs !== undefined]).toEqual([
      name,
      stream !== undefined,
      stream === "conversation",
    ]);
    const reader = join(ROOT, CATALOGUE, name, `${name}Transcript.ts`);
    expect([name, existsSync(reader), transcripts.has(name)]).toEqual([name, transcript === true, transcript === true]);
    expect([name, plugin !== undefined]).toEqual([name, hooks?.install === "plugin"]);
  }
});

test("a bundle is made with the folders as they are", async () => {
  const { agentFolders } = await import("../../adapters/agents/agentFolders.ts");
  const bundling = (await import(join(ROOT, "bundleAgents.mjs"))) as { agentFolders: () => Promise<unknown> };
  expect(await bundling.agentFolders()).toEqual(agentFolders());
});
