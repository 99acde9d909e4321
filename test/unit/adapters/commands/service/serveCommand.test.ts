/** What `tmuxwire serve` refuses before anything is started: one line, exit code 1; a mistake of usage is 2. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { inProcessCli } from "../../../../support/daemon/cliOutput.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let homeDir: string;
beforeEach(() => {
  homeDir = ownDirectory();
});

async function refusal(args: readonly string[], env: Record<string, string> = {}, expected = 1): Promise<string> {
  const { code, out, err } = await inProcessCli(["serve", ...args], { env, homeDir });
  expect([code, out]).toEqual([expected, ""]);
  expect(err).toMatch(/^tmuxwire: [^\n]+\n$/);
  return err;
}

// What each setting must be is a row of configuration.test.ts.
describe("settings", () => {
  test.each([
    [["--addin-mode", "both"], {}, /--addin-mode must be "tmux" or "stub"/],
    [["--only", "addin"], { TMUX_BRIDGE_MODE: "both" }, /TMUX_BRIDGE_MODE must be "tmux" or "stub"/],
  ])("%j %j", async (args, env, message) => {
    expect(await refusal(args, env)).toMatch(message);
  });

  test("a file that cannot be read", async () => {
    mkdirSync(join(homeDir, ".config/tmuxwire/config.json"), { recursive: true });
    expect(await refusal([])).toMatch(/cannot read .*config\.json \(EISDIR\); make it readable/);
  });
});

test("an adapter or flag that does not exist is a mistake of usage", async () => {
  expect(await refusal(["--only", "addin,nope"], {}, 2)).toMatch(
    /--only takes addin, native, team, dashboard, freshell, nats; "nope"/,
  );
  expect(await refusal(["--only", ""], {}, 2)).toMatch(/--only takes/);
  expect(await refusal(["--nope"], {}, 2)).toMatch(/serve has no option --nope/);
  expect(await refusal(["extra"], {}, 2)).toMatch(/serve: unexpected argument "extra"/);
});
