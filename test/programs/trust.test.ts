/** The commands of `tmuxwire trust`, run by a shell in a home of their own, and what a real Chromium then makes of it. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { resolveCertificate } from "../../adapters/kit/trust/certificates.ts";
import { listen } from "../../adapters/kit/listeners/listen.ts";
import { nssFolders, trustInstructions } from "../../adapters/kit/trust/trust.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";

const NO_CERTUTIL = existsSync("/usr/bin/certutil")
  ? undefined
  : "no /usr/bin/certutil (package libnss3-tools): the test of what Chromium trusts is skipped";
const missing = NO_BROWSER ?? NO_CERTUTIL;
if (missing !== undefined) console.warn(missing);

test.skipIf(missing !== undefined).each([
  ["where no browser has ever run", undefined, []],
  ["with the folder that older ones made", undefined, [".pki/nssdb"]],
  ["with a data folder of another place", "own data", []],
] as const)("Chromium accepts the certificate afterwards, %s", { timeout: 60_000 }, async (_name, data, folders) => {
  const home = mkdtempSync(join(tmpdir(), "tmuxwire trust-"));
  const env: NodeJS.ProcessEnv = { ...process.env, HOME: home };
  delete env["XDG_DATA_HOME"];
  delete env["XDG_CONFIG_HOME"];
  if (data !== undefined) env["XDG_DATA_HOME"] = join(home, data);
  for (const folder of folders) mkdirSync(join(home, folder), { recursive: true });
  const config = {
    configured: undefined,
    bridgeDir: join(home, "b"),
    mkcertRoot: join(home, "m"),
    stateDir: join(home, "s"),
  };
  const certificate = await resolveCertificate(config, Date.now());
  const app = new Hono().get("/", (c) => c.html("<h1>trusted</h1>"));
  const listener = await listen({ fetch: app.fetch, host: "localhost", port: 0, tls: certificate, clock: systemClock });
  const shown = async (): Promise<string | null> => {
    await using browser = await startBrowser(env);
    await using opened = await browser.open(listener.url);
    // Awaited here: the browser closes when this function is left.
    return await opened.page.locator("h1").textContent();
  };
  try {
    // A home of its own for this: what a browser finds at its start it keeps.
    await expect(shown()).rejects.toThrow("ERR_CERT_AUTHORITY_INVALID");
    const text = trustInstructions("linux", certificate, nssFolders(env["XDG_DATA_HOME"], home));
    const commands = text.split("\n").filter((line) => /^ +(?:mkdir|certutil) /.test(line));
    expect(commands.length).toBeGreaterThan(0);
    execFileSync("sh", ["-ec", commands.join("\n")], { env, stdio: "pipe" });
    expect(await shown()).toBe("trusted");
  } finally {
    await listener.close();
    rmSync(home, { recursive: true, force: true });
  }
});
