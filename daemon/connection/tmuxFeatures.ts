/**
 * What the server at the other end of a connection does otherwise than other versions of tmux, asked of the server itself:
 * `tmux -V` speaks of the client, and a development build's version says little. Every connection asks once, in the
 * command that asks who the server is; nothing else in the daemon decides by a version.
 */
import { displayMessage, listCommandUsage } from "../../protocol/command/build.ts";
import {
  decodeServerIdentity,
  lines,
  SERVER_IDENTITY_FORMAT,
  type ServerIdentity,
} from "../../protocol/command/formats.ts";
import type { ControlConnection } from "./controlConnection.ts";

export interface TmuxFeatures {
  /**
   * `paste-buffer` has `-S`, and without it writes control bytes as text, `^[` for ESC (from 3.7). Earlier it has no such
   * flag and pastes every byte as it is (docs/tmuxFacts.md, Versions).
   */
  readonly pasteNeedsRaw: boolean;
}

/** Before anything was asked: every tmux up to 3.6. */
export const PLAIN_TMUX: TmuxFeatures = { pasteNeedsRaw: false };

const INTRODUCTION = [displayMessage(SERVER_IDENTITY_FORMAT), listCommandUsage("paste-buffer")];

/** The first words on a connection: who the server is and where this client is; undefined when it does not say so. */
export async function introduce(connection: ControlConnection): Promise<ServerIdentity | undefined> {
  const [identity, usage] = await connection.group(INTRODUCTION);
  connection.features = featuresOf(usage?.body ?? new Uint8Array(0));
  return decodeServerIdentity(identity?.body ?? new Uint8Array(0));
}

/** From the flags that tmux says `paste-buffer` has, such as `[-dprS]`. */
export const featuresOf = (pasteUsage: Uint8Array): TmuxFeatures => ({
  pasteNeedsRaw: /^\[-\w*S/.test(lines(pasteUsage)[0] ?? ""),
});
