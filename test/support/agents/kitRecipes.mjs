// oxlint-disable typescript/no-unsafe-assignment -- the kit is plain JavaScript, untyped
/**
 * The kit's recipes (AGENT_KIT) and, in their form, those of programs that it has none for: how each is started offline
 * against the fake model API. `node kitRecipes.mjs NAME` prepares a start and prints the file that does it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const { AGENT_KIT, TUI_INST, FAKE_API } = process.env;
const kit = await import(pathToFileURL(join(AGENT_KIT, "recipes.mjs")).href);

const json = (path, content) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(content, undefined, 1));
};

Object.assign(kit.recipes, {
  /** A model of one's own needs no login. */
  copilot: ({ home, work }) => {
    json(join(home, ".copilot/config.json"), { trusted_folders: [work], banner: "never" });
    return {
      argv: [join(TUI_INST, "copilot/node_modules/.bin/copilot"), "--no-auto-update"],
      env: {
        COPILOT_PROVIDER_BASE_URL: `${FAKE_API}/v1`,
        COPILOT_PROVIDER_API_KEY: "x",
        COPILOT_MODEL: "fake-model",
        COPILOT_OFFLINE: "true",
      },
    };
  },
  qwen: ({ home, work }) => {
    const auth = { selectedType: "openai" };
    json(join(home, ".qwen/settings.json"), {
      security: { auth, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      model: { name: "fake-model" },
    });
    json(join(home, ".qwen/trustedFolders.json"), { [work]: "TRUST_FOLDER" });
    return {
      argv: [
        process.execPath,
        join(TUI_INST, "qwen/node_modules/@qwen-code/qwen-code/cli.js"),
        "--approval-mode=default",
      ],
      env: { OPENAI_API_KEY: "x", OPENAI_BASE_URL: `${FAKE_API}/v1`, OPENAI_MODEL: "fake-model" },
    };
  },
});
Object.assign(kit.facts, {
  copilot: { agent: true, ready: /^❯|^> /m },
  qwen: { agent: true, ready: /Type your message/ },
});

export const { facts, prepare } = kit;

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(prepare(process.argv[2]).file);
