/**
 * How the connected server differs from other versions of tmux. The server itself is asked, because `tmux -V` is about the
 * client, and a development build's version says little. Every connection asks once, in the command that asks for the
 * server's identity; nothing else in the daemon depends on a version.
 */
import { displayMessage, listCommandUsage } from "../../protocol/command/build.ts";
import { SERVER_IDENTITY, type ServerIdentity } from "../../protocol/command/formats.ts";
import { lines } from "../../protocol/command/rowFormat.ts";
import type { Reply } from "./commandQueue.ts";
import { releaseOf } from "./tmuxVersion.ts";

export interface TmuxFeatures {
  /**
   * `paste-buffer` has `-S`, and without it writes control bytes as text, `^[` for ESC (from 3.7). Earlier it has no such
   * flag and pastes every byte unchanged (docs/tmuxFacts.md, Versions).
   */
  readonly pasteNeedsRaw: boolean;
  /** Reports which signal ended a pane's program (from 3.3). Earlier versions report nothing about such an end. */
  readonly reportsSignals: boolean;
  /**
   * Can keep a pane after its program has ended (from 3.3). In earlier versions that can crash the server with every session.
   */
  readonly keepsPanes: boolean;
  /** Reports swapped panes, and has a hook for titles (from 3.3). */
  readonly reportsPaneChanges: boolean;
  /** A window that leaves the client's own session has its own notification (up to 3.7). */
  readonly reportsOwnUnlink: boolean;
  /** A pane that is off for every client is not read: its program blocks in its next write (from 3.4). */
  readonly leavesOffUnread: boolean;
  /** How it stores a session name; it does not keep every character (docs/tmuxFacts.md, Versions). */
  readonly sessionName: (name: string) => string;
  /** Undoes the escaping of expanded formats: 3.4 alone writes `\\$` for each `$` before a letter, `_` or `{`. */
  readonly meant: (printed: Uint8Array) => Uint8Array;
}

const INTRODUCTION = [displayMessage(SERVER_IDENTITY.format), listCommandUsage("paste-buffer")];

/** A connection whose server is not identified yet. */
interface NewConnection {
  features: TmuxFeatures;
  group(commands: readonly string[]): Promise<readonly Reply[]>;
}

/** Sends the first commands on a connection: the server's identity and this client's session; undefined if it does not say. */
export async function introduce(connection: NewConnection): Promise<ServerIdentity | undefined> {
  const [identity, usage] = await connection.group(INTRODUCTION);
  const here = SERVER_IDENTITY.decodeOne(identity?.body ?? new Uint8Array(0));
  connection.features = featuresOf(here?.version ?? "", usage?.body);
  return here;
}

/**
 * A version that names no release counts as the newest.
 * @param pasteUsage the flags of `paste-buffer` as tmux lists them, such as `[-dprS]`
 */
export function featuresOf(version: string, pasteUsage: Uint8Array = new Uint8Array(0)): TmuxFeatures {
  const release = releaseOf(version) ?? Infinity;
  return {
    pasteNeedsRaw: /^\[-\w*S/.test(lines(pasteUsage)[0] ?? ""),
    reportsSignals: release >= 303,
    keepsPanes: release >= 303,
    reportsPaneChanges: release >= 303,
    reportsOwnUnlink: release < 308,
    leavesOffUnread: release >= 304,
    sessionName: (name) => {
      const escaped = (release < 307 ? name.replaceAll(/[.:]/g, "_") : name).replaceAll("\\", "\\\\");
      return release < 305 ? escaped.replaceAll(/\$(?=[A-Za-z_{])/g, "\\$") : escaped;
    },
    meant: release === 304 ? withoutEscapedDollars : asItIs,
  };
}

const asItIs = (printed: Uint8Array): Uint8Array => printed;

/** Unambiguous, because every such `$` has a backslash and no other character does. */
const withoutEscapedDollars = (printed: Uint8Array): Uint8Array =>
  Buffer.from(
    Buffer.from(printed)
      .toString("latin1")
      .replaceAll(/\\(?=\$[A-Za-z_{])/g, ""),
    "latin1",
  );

/** Assumed before the server was asked: the version that most people have. */
export const USUAL_TMUX: TmuxFeatures = { ...featuresOf("3.4"), meant: asItIs };
