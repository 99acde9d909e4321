/**
 * The agent programs themselves in sessions' places, offline: each start has a home and a fake model of its own, which go with
 * its process group. AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder) come from the environment.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const { AGENT_KIT: KIT, TUI_INST: INST } = process.env;
/** The kit's recipe by the folder of the program. */
const RECIPES = { cc: "claude", ccnew: "claude", codex: "codex", codexnew: "codex" } as const;
type RealSessionName = keyof typeof RECIPES;

/** Those of the kind that are here; says why the others are not. */
export function realSessions(kind: "claude" | "codex"): readonly RealSessionName[] {
  const names = (Object.keys(RECIPES) as RealSessionName[]).filter((name) => RECIPES[name] === kind);
  return names.filter((name) => {
    if (KIT !== undefined && INST !== undefined && existsSync(join(INST, name))) return true;
    process.stderr.write(`real sessions: AGENT_KIT is not set, or there is no ${name} in TUI_INST: skipped\n`);
    return false;
  });
}

interface RealSession extends Disposable {
  /** For `CLAUDE_CMD` or `CODEX_CMD`. */
  readonly command: string;
}

export function realSession(name: RealSessionName): RealSession {
  if (KIT === undefined || INST === undefined) throw new Error("no kit");
  const recipe = RECIPES[name];
  const root = mkdtempSync(join(tmpdir(), "tw-sessions-"));
  const inst = join(root, "inst");
  mkdirSync(inst);
  // Under the name that the recipe runs.
  const called = recipe === "claude" ? "cc" : "codex";
  for (const each of readdirSync(INST)) symlinkSync(resolve(INST, each === called ? name : each), join(inst, each));
  const [command, inside] = [join(root, "agent"), join(root, "inside.sh")];
  writeFileSync(command, `#!/bin/sh\nexec ${KIT}/bin/offline sh ${inside} "$@"\n`);
  chmodSync(command, 0o755);
  writeFileSync(
    inside,
    `run=$(mktemp -d ${root}/run-XXXXXX)
FAKE_API_PORTFILE=$run/port node ${KIT}/fake-api.mjs </dev/null >/dev/null 2>&1 &
until [ -s "$run/port" ]; do sleep 0.05; done
FAKE_API=http://127.0.0.1:$(cat "$run/port")
export FAKE_API
launch=$(TUI_RUN=$run TUI_INST=${inst} node ${KIT}/recipes.mjs prepare ${recipe} 2>/dev/null)
git init -q "\${launch%/launch.sh}/work"
sed -e "s/ '--no-daemon'//" -e '$s/$/ "$@"/' "$launch" >"$run/start.sh"
exec sh "$run/start.sh" "$@"
`,
  );
  return {
    command,
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }),
  };
}
