/**
 * A home of its own for each test file, before anything of ours is loaded: the start-up files of whoever runs the tests
 * would be read by every shell in a pane, and what a test writes into a home would be theirs. Gone at the end.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { afterAll, afterEach } from "vitest";
import { requireNoDifferences } from "./routeChecks.ts";

const home = mkdtempSync(join(tmpdir(), "tw-home-"));
process.env["HOME"] = home;
// Each of these leads a shell, tmux, Node or us to other files of the user's, or to a tmux that the tests run in. Certificates
// of their own, which Node reads at every start, are three times what a small program costs without them.
const LEADS = /^(?:XDG_.*|ENV|BASH_ENV|ZDOTDIR|PROMPT_COMMAND|INPUTRC|TMUX|TMUX_PANE|TMUX_TMPDIR|NODE_EXTRA_CA_CERTS)$/;
for (const name of Object.keys(process.env)) if (LEADS.test(name)) delete process.env[name];

// Here, because this file runs for every test file, and what it imports once per process.
afterEach(requireNoDifferences);
// Registered first, called last. What a test has left running may still write there for a moment.
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
