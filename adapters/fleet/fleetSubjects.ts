/**
 * The NATS subjects of a fleet, and the stream names. Host and server names are encoded so that none is a wildcard or has a
 * dot; a pane is the number of its id. No subject of one kind can be one of another kind: they differ in their number of
 * words or in their last ones.
 */
import { isPaneId, paneNumberOf } from "../../protocol/ids.ts";
import { invalidArgument } from "../../protocol/errors.ts";

const PLAIN = /^[A-Za-z0-9_-]$/;
const TOKEN = /^(?:[A-Za-z0-9_-]|=[0-9A-F]{2})+$/;

/** Letters, digits, `-` and `_` stand for themselves, every other byte of its UTF-8 is `=` and two hex digits. */
function subjectToken(name: string): string {
  if (name === "") throw invalidArgument("a host or server of a fleet must have a name");
  return Array.from(name, (character) =>
    PLAIN.test(character)
      ? character
      : Array.from(
          new TextEncoder().encode(character),
          (byte) => `=${byte.toString(16).toUpperCase().padStart(2, "0")}`,
        ).join(""),
  ).join("");
}

/** Undefined: it is not one of ours. */
function nameOf(token: string): string | undefined {
  if (!TOKEN.test(token)) return undefined;
  try {
    return decodeURIComponent(token.replaceAll("=", "%"));
  } catch {
    return undefined;
  }
}

const ROOT = "tmuxwire";

/** What one pane writes, and where the stream repeats it for live viewers. */
export interface PaneAddress {
  readonly host: string;
  readonly server: string;
  readonly pane: string;
}

export interface FleetFollowOptions extends PaneAddress {
  /** `now` (default), `snapshot`, `start` (of what is kept of this pane), or a position. */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws AppError INVALID_ARGUMENT */
function paneWords({ host, server, pane }: PaneAddress): string {
  if (!isPaneId(pane)) {
    throw invalidArgument(`over NATS a pane is named by its id, such as %5, not ${JSON.stringify(pane)}`);
  }
  return `${serverWords(host, server)}.${paneNumberOf(pane)}`;
}

const serverWords = (host: string, server: string): string => `${ROOT}.${subjectToken(host)}.${subjectToken(server)}`;

/** @throws AppError INVALID_ARGUMENT */
export const outSubject = (address: PaneAddress): string => `${paneWords(address)}.out`;
/** @throws AppError INVALID_ARGUMENT */
export const liveSubject = (address: PaneAddress): string => `${paneWords(address)}.live`;

/** What is known of one server; each is one message, the newest. */
export const STATE_KINDS = ["tree", "readiness", "agents"] as const;
export type StateKind = (typeof STATE_KINDS)[number];
export const stateSubject = (host: string, server: string, kind: StateKind): string =>
  `${serverWords(host, server)}.state.${kind}`;
/** Of a host's servers and its daemon; of all hosts without one. */
export const stateSubjects = (host?: string): readonly string[] => {
  const words = `${ROOT}.${host === undefined ? "*" : subjectToken(host)}`;
  return [`${words}.state`, `${words}.*.state.*`];
};
/** Which daemon publishes as this host. */
export const daemonSubject = (host: string): string => `${ROOT}.${subjectToken(host)}.state`;
/** The daemon that publishes as this host answers here. */
export const aliveSubject = (host: string): string => `${ROOT}.${subjectToken(host)}.alive`;
export const callSubject = (host: string, operation: string): string =>
  `${ROOT}.${subjectToken(host)}.call.${operation}`;

/** One for each host: its own retention, replicas and rights. */
export const hostStream = (host: string): StreamNames => {
  const token = subjectToken(host);
  const words = `${ROOT}.${token}`;
  return {
    // Not the name of the stream for states, which all hosts use.
    name: token === "STATE" ? "TMUXWIRE_=53TATE" : `TMUXWIRE_${token}`,
    subjects: [`${words}.*.*.out`],
    republish: { src: `${words}.*.*.out`, dest: `${words}.{{wildcard(1)}}.{{wildcard(2)}}.live` },
  };
};

/** One for all hosts: a reader gets the whole fleet's in one go. */
export const STATE_STREAM = {
  name: "TMUXWIRE_STATE",
  // Not all that ends in any word: that would overlap with the streams of output.
  subjects: [`${ROOT}.*.state`, ...STATE_KINDS.map((kind) => `${ROOT}.*.*.state.${kind}`)],
} satisfies StreamNames;

interface StreamNames {
  readonly name: string;
  readonly subjects: string[];
  readonly republish?: { readonly src: string; readonly dest: string };
}

/** What a state's subject is about; undefined: it is no such subject. */
export function stateOf(
  subject: string,
): { readonly host: string; readonly server?: string; readonly kind?: StateKind } | undefined {
  const words = subject.split(".");
  const host = nameOf(words[1] ?? "");
  if (words[0] !== ROOT || host === undefined) return undefined;
  if (words.length === 3 && words[2] === "state") return { host };
  const server = nameOf(words[2] ?? "");
  const kind = STATE_KINDS.find((one) => one === words[4]);
  if (words.length !== 5 || words[3] !== "state" || server === undefined || kind === undefined) return undefined;
  return { host, server, kind };
}
