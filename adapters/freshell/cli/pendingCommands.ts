/**
 * Commands of the contract whose part of the product is not built yet, agent sessions: they are known by name, take what they
 * will take, and say what they wait for. None asks the server for anything.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { CommandSpec, OptionSpec, PositionalSpec } from "../../bin/cli/commandTypes.ts";
import { freshellCommand } from "./freshellCommand.ts";
import { text, word } from "./deviceOptions.ts";

const SESSION = text("target", "SESSION", "session:PROVIDER:ID");
const CWD = text("cwd", "DIR", "the directory to run it in", { complete: "directory" });
const MODEL = text("model", "MODEL", "the model");

const pending = (
  name: string,
  summary: string,
  options: readonly OptionSpec[],
  positionals: readonly PositionalSpec[] = [],
): CommandSpec =>
  freshellCommand({
    name,
    summary: `${summary} (not in this version)`,
    positionals,
    options,
    examples: [],
    perform: () => {
      throw new AppError(
        "INVALID_ARGUMENT",
        `${name} needs agent sessions, which this version does not have; terminals and layouts are served`,
        { details: { waitsFor: "sessions" } },
      );
    },
  });

export const PENDING_COMMANDS: readonly CommandSpec[] = [
  pending("session-create", "start an agent session", [
    text("provider", "PROVIDER", "the kind of session", { choices: ["sdk", "codingcli"] }),
    text("coding-provider", "NAME", "the program", { choices: ["claude", "codex", "opencode", "gemini", "kimi"] }),
    text("prompt", "TEXT", "what it is told first"),
    CWD,
    text("resume-session-id", "ID", "the session to go on with"),
    MODEL,
    { name: "max-turns", type: "number", value: "N", description: "end after so many turns" },
    text("permission-mode", "MODE", "what it may do unasked"),
    text("effort", "EFFORT", "how hard it thinks", { choices: ["low", "medium", "high", "max"] }),
    text("sandbox", "SANDBOX", "what it can reach", {
      choices: ["read-only", "workspace-write", "danger-full-access"],
    }),
  ]),
  pending("session-list", "list the agent sessions", [text("provider", "PROVIDER", "of one kind")]),
  pending("session-send", "tell a session something", [SESSION], [{ ...word("TEXT", "what"), many: true }]),
  pending("session-wait", "wait for a session's output", [
    SESSION,
    text("from", "WHERE", "now, or tail:N"),
    text("pattern", "PATTERN", "the output shows this", { short: "p", dashed: true }),
    { name: "literal", type: "flag", description: "the pattern is text" },
    { name: "regex", type: "flag", description: "the pattern is a regular expression" },
    { name: "stable", type: "number", value: "SECONDS", description: "no output for this long" },
    { name: "timeout", short: "T", type: "number", value: "SECONDS", description: "give up then" },
  ]),
  pending("session-kill", "end a session", [SESSION]),
];
