/** The description that the built daemon serves, linted by Redocly with its recommended rules. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { cliSandbox, type CliSandbox } from "../support/daemon/cliSandbox.ts";

const REDOCLY = resolve(import.meta.dirname, "../../node_modules/@redocly/cli/bin/cli.js");

interface Findings {
  readonly totals: { readonly errors: number; readonly warnings: number; readonly ignored: number };
  readonly problems: readonly { readonly ruleId: string; readonly message: string }[];
}

async function lint(sandbox: CliSandbox, document: string): Promise<Findings> {
  const file = sandbox.path("openapi.json");
  writeFileSync(file, document);
  const args = [REDOCLY, "lint", file, "--extends", "recommended", "--format", "json", "--max-problems", "1000"];
  const child = spawn(process.execPath, args, {
    cwd: sandbox.root,
    env: { ...sandbox.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (!out.startsWith("{")) throw new Error(`redocly did not lint: ${out}${err}`);
  return JSON.parse(out) as Findings;
}

test("redocly finds nothing in the description that the daemon serves, and would find a fault", async () => {
  await using sandbox = cliSandbox();
  const daemon = await sandbox.serve();
  const [, port = ""] = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(daemon.stdout()) ?? [];
  const response = await fetch(`http://127.0.0.1:${port}/v1/openapi.json`);
  const document = await response.text();
  const clean = { totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] };
  expect(await lint(sandbox, document)).toMatchObject(clean);
  const faulty = document.replace('"operationId":"livez"', '"operationId":"readyz"');
  expect((await lint(sandbox, faulty)).totals.errors).toBeGreaterThan(0);
});
