/**
 * The tmux commands that type one job: which parts go as keys, as literal text, as hexadecimal bytes (what tmux's parser
 * cannot carry) or from a paste buffer, and where a long job is cut into groups. A group is made when it is asked for: a
 * job that waits is no larger than its bytes. Nothing here is sent.
 */
import {
  type CommandCondition,
  leaveModes,
  onlyIf,
  pasteBuffer,
  sendBytes,
  sendKeys,
  sendLiteral,
  setBuffer,
} from "../../protocol/command/build.ts";
import { isQuotable } from "../../protocol/command/encode.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { MAX_INPUT_BYTES, MAX_SEND_KEYS_BYTES, PASTE_PIECE_BYTES } from "../../protocol/limits.ts";
import type { InputPart } from "../tmux/io.ts";
import { isKeyName, nearestKeyName } from "./keys.ts";
import { requirePasteText } from "./pasteText.ts";

/** Never a session's name: tmux reports it as missing when a part's condition does not hold. */
export const PANE_HAS_CHANGED = "tmuxwire pane has changed";

interface InputPlan {
  /** In the order in which they are to be written. */
  readonly groups: Generator<readonly string[], void>;
  /** Of the groups made so far. */
  readonly buffers: readonly string[];
}

/** The contracts fix the message; callers that show it to people add the nearest name. */
function unknownKey(key: string): AppError {
  const nearest = nearestKeyName(key);
  const details = nearest === undefined ? {} : { details: { nearest } };
  return new AppError("INVALID_ARGUMENT", `Invalid key token: ${key}`, details);
}

/** Of a job: all that it holds until tmux has taken it. */
export const bytesOf = (parts: readonly InputPart[]): number =>
  parts.reduce((sum, part) => sum + (part.kind === "keys" ? part.keys.length * KEY_BYTES : part.bytes.length), 0);

/** A key's name. */
const KEY_BYTES = 16;

/**
 * @param pasteNeedsRaw of the server that gets the plan; called when there is something to paste
 * @throws AppError INVALID_ARGUMENT on an unknown key name, too much text or a paste with control characters: nothing
 * is typed.
 */
export function planInput(
  pane: PaneId,
  parts: readonly InputPart[],
  bufferName: () => string,
  pasteNeedsRaw: () => boolean,
): InputPlan {
  requireTypable(parts);
  const buffers: string[] = [];
  const newBuffer = (): string => {
    const name = bufferName();
    buffers.push(name);
    return name;
  };
  return { groups: groupsOf(pane, parts, newBuffer, pasteNeedsRaw), buffers };
}

function requireTypable(parts: readonly InputPart[]): void {
  let totalBytes = 0;
  for (const part of parts) {
    // A condition ends its group: a later part would not know that it failed.
    if (part.kind !== "text" && part.onlyIf !== undefined && part !== parts.at(-1)) {
      throw new AppError("INVALID_ARGUMENT", "a part with a condition comes last");
    }
    if (part.kind === "keys") {
      const unknown = part.keys.find((key) => !isKeyName(key));
      if (unknown !== undefined) throw unknownKey(unknown);
      continue;
    }
    totalBytes += part.bytes.length;
    if (totalBytes > MAX_INPUT_BYTES) {
      throw new AppError("INVALID_ARGUMENT", `one input job holds at most ${MAX_INPUT_BYTES} bytes; split the text`);
    }
    if (part.kind === "paste") requirePasteText(part.bytes);
  }
}

function* groupsOf(
  pane: PaneId,
  parts: readonly InputPart[],
  newBuffer: () => string,
  pasteNeedsRaw: () => boolean,
): Generator<readonly string[], void> {
  let line = [leaveModes(pane)];
  let lineBytes = 0;
  const push = (...commands: readonly string[]): void => {
    line.push(...commands);
    for (const { length } of commands) lineBytes += length;
  };
  const next = (): void => {
    line = [];
    lineBytes = 0;
  };
  const typing = (command: string, condition: CommandCondition | undefined): readonly string[] =>
    condition === undefined ? [command] : onlyIf(pane, condition, command, PANE_HAS_CHANGED);
  for (const part of parts) {
    if (part.kind === "keys") {
      if (part.keys.length > 0) push(...typing(sendKeys(pane, part.keys), part.onlyIf));
      continue;
    }
    const condition = part.kind === "paste" ? part.onlyIf : undefined;
    if (part.bytes.length === 0) continue;
    if (part.kind === "text" && part.bytes.length <= MAX_SEND_KEYS_BYTES) {
      push(isPrintable(part.bytes) ? sendLiteral(pane, part.bytes) : sendBytes(pane, part.bytes));
      continue;
    }
    for (const run of quotableRuns(part.bytes)) {
      if (isQuotable(run)) {
        const name = newBuffer();
        for (let at = 0; at < run.length; at += PASTE_PIECE_BYTES) {
          push(setBuffer(name, run.subarray(at, at + PASTE_PIECE_BYTES), at > 0));
          if (at + PASTE_PIECE_BYTES < run.length) {
            yield line;
            next();
          }
        }
        push(...typing(pasteBuffer(pane, name, { bracketed: part.kind === "paste", raw: pasteNeedsRaw() }), condition));
      } else {
        push(...typing(sendBytes(pane, run), condition));
      }
      if (condition !== undefined || lineBytes > PASTE_PIECE_BYTES) {
        yield line;
        next();
      }
    }
  }
  if (line.length > 0) yield line;
}

/** Cuts bytes so that each run either can be quoted or consists of NUL and 0xFF only; the latter at most 1 KiB long. */
function* quotableRuns(bytes: Uint8Array): Generator<Uint8Array> {
  let from = 0;
  while (from < bytes.length) {
    const special = isSpecial(bytes[from]!);
    const limit = special ? Math.min(bytes.length, from + MAX_SEND_KEYS_BYTES) : bytes.length;
    let to = from + 1;
    while (to < limit && isSpecial(bytes[to]!) === special) to += 1;
    yield bytes.subarray(from, to);
    from = to;
  }
}

const isSpecial = (byte: number): boolean => byte === 0 || byte === 0xff;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Printable UTF-8 without a control character: `send-keys -l` types it unchanged. */
function isPrintable(bytes: Uint8Array): boolean {
  let ascii = true;
  for (const byte of bytes) {
    if (byte < 0x20 || byte === 0x7f) return false;
    if (byte >= 0x80) ascii = false;
  }
  if (ascii) return true;
  try {
    return !/[\u0080-\u009f]/.test(utf8.decode(bytes));
  } catch {
    return false;
  }
}
