/**
 * The selectors of `--target`, `--tab`, `--source` and `--to` (seed 002 §5.2): one parser for the server and the command line,
 * with explicit prefixes only. tmux's own targets (`0:1.2`) and bare ids are refused; nothing is guessed.
 */
import { invalidArgument } from "../../errors.ts";

export type TabSelector =
  | { readonly type: "tab"; readonly id: string }
  | { readonly type: "tab-name"; readonly name: string }
  | { readonly type: "tab-index"; readonly index: number };

export type PaneSelector =
  | { readonly type: "pane"; readonly id: string }
  | { readonly type: "pane-index"; readonly index: number };

interface TerminalSelector {
  readonly type: "terminal";
  readonly terminalId: string;
}

interface SessionSelector {
  readonly type: "session";
  readonly provider: SessionProvider;
  readonly sessionId: string;
}

export type Selector = TabSelector | PaneSelector | TerminalSelector | SessionSelector;
export type SelectorType = Selector["type"];

/** The two kinds of session, and programs, whose names mean their `codingcli` sessions. */
export const SESSION_PROVIDERS = ["sdk", "codingcli", "claude", "codex", "opencode", "gemini", "kimi"] as const;
type SessionProvider = (typeof SESSION_PROVIDERS)[number];

/** Longer than any id or title; messages quote less. */
const MAX_SELECTOR_CHARS = 1_024;
const QUOTED_CHARS = 80;

/** Our ids have 21 of these characters. Another such id is merely unknown, but anything else is an error. */
const TERMINAL_ID = /^[A-Za-z0-9_-]{1,64}$/;

export const isTerminalId = (text: string): boolean => TERMINAL_ID.test(text);

/** Indices start at 0, like tmux's pane numbers. */
const INDEX = /^\d{1,9}$/;

const FORMS = "terminal:ID, pane:ID, pane-index:N, tab:ID, tab-name:NAME, tab-index:N or session:PROVIDER:ID";

/** @throws AppError INVALID_ARGUMENT */
export function parseSelector(text: string): Selector {
  if (text.length > MAX_SELECTOR_CHARS) {
    throw invalidArgument(`the selector is too long: ${text.length} characters, at most ${MAX_SELECTOR_CHARS}`);
  }
  const colon = text.indexOf(":");
  if (colon === -1) throw invalidArgument(`${quoted(text)} is no selector: give ${FORMS}`);
  const [prefix, value] = [text.slice(0, colon), text.slice(colon + 1)];
  const parse = PARSERS.get(prefix);
  if (parse === undefined) throw invalidArgument(`${quoted(text)} is no selector: give ${FORMS}`);
  if (value === "") throw invalidArgument(`${quoted(text)} is not a selector: a value must follow ${prefix}:`);
  return parse(value, text);
}

const PARSERS: ReadonlyMap<string, (value: string, text: string) => Selector> = new Map<
  SelectorType,
  (value: string, text: string) => Selector
>([
  ["tab", (id) => ({ type: "tab", id })],
  ["tab-name", (name) => ({ type: "tab-name", name })],
  ["tab-index", (value, text) => ({ type: "tab-index", index: indexOf(value, text) })],
  ["pane", (id) => ({ type: "pane", id })],
  ["pane-index", (value, text) => ({ type: "pane-index", index: indexOf(value, text) })],
  [
    "terminal",
    (terminalId, text) => {
      if (isTerminalId(terminalId)) return { type: "terminal", terminalId };
      throw invalidArgument(`${quoted(text)} is not a terminal: an id must have at most 64 letters, digits, _ and -`);
    },
  ],
  ["session", sessionOf],
]);

/** An id may contain colons, so only the first one ends the provider. */
function sessionOf(value: string, text: string): SessionSelector {
  const colon = value.indexOf(":");
  const sessionId = value.slice(colon + 1);
  if (colon < 1 || sessionId === "")
    throw invalidArgument(`${quoted(text)} is not a session: give session:PROVIDER:ID`);
  const provider = SESSION_PROVIDERS.find((one) => one === value.slice(0, colon));
  if (provider !== undefined) return { type: "session", provider, sessionId };
  throw invalidArgument(
    `${quoted(text)} is not a session: the provider must be one of ${SESSION_PROVIDERS.join(", ")}`,
  );
}

function indexOf(value: string, text: string): number {
  if (INDEX.test(value)) return Number(value);
  throw invalidArgument(`${quoted(text)} has no valid index: give an integer from 0`);
}

/** The selector in the caller's form. */
export function selectorText(selector: Selector): string {
  switch (selector.type) {
    case "tab":
    case "pane":
      return `${selector.type}:${selector.id}`;
    case "tab-name":
      return `tab-name:${selector.name}`;
    case "tab-index":
    case "pane-index":
      return `${selector.type}:${selector.index}`;
    case "terminal":
      return `terminal:${selector.terminalId}`;
    case "session":
      return `session:${selector.provider}:${selector.sessionId}`;
  }
}

const quoted = (text: string): string =>
  JSON.stringify(text.length > QUOTED_CHARS ? `${text.slice(0, QUOTED_CHARS)}…` : text);
