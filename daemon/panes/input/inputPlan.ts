/**
 * The tmux commands that type one job: which parts go as keys, as literal text, as hexadecimal bytes (what tmux's parser
 * cannot carry) or from a paste buffer, and where a long job is cut into groups. A group is made when it is asked for: a
 * job that waits is no larger than its bytes. Nothing here is sent.
 */
import {
  leaveModes,
  onlyIf,
  pasteBuffer,
  sendBytes,
  sendKeys,
  sendLiteral,
  setBuffer,
} from "../../../protocol/command/build.ts";
import { quotedBytes } from "../../../protocol/command/encode.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import {
  KEYS_PER_COMMAND,
  MAX_INPUT_BYTES,
  MAX_SEND_KEYS_BYTES,
  MIN_PASTED_BYTES,
  PASTE_PIECE_BYTES,
} from "../../../protocol/limits.ts";
import type { InputPart, PaneCondition } from "../../tmux/io.ts";
import { isKeyName, nearestKeyName } from "./keys.ts";
import { requirePasteText } from "./pasteText.ts";

/** Never a session's name: tmux reports it as missing when a job's condition does not hold. */
export const PANE_HAS_CHANGED = "tmuxwire pane has changed";

interface InputPlan {
  /** In the order in which they are to be written. */
  readonly groups: Generator<readonly string[], void>;
  /** The buffer of the groups made so far, if they use one. */
  readonly buffers: readonly string[];
}

interface PlanOptions {
  /** Of the pane, when tmux executes a group. */
  readonly condition: PaneCondition | undefined;
  readonly bufferName: () => string;
  /** Of the server that gets the plan; called when there is something to paste. */
  readonly pasteNeedsRaw: () => boolean;
}

/** The contracts fix the message; callers that show it to people add the nearest name. */
function unknownKey(key: string): AppError {
  const nearest = nearestKeyName(key);
  const details = nearest === undefined ? {} : { details: { nearest } };
  return new AppError("INVALID_ARGUMENT", `Invalid key token: ${key}`, details);
}

/** What a key's name takes in a command. */
const KEY_BYTES = 16;
/**
 * What a hexadecimal byte counts for: tmux takes 30 times as long for it as for one that is pasted. A pane's allowance has
 * room for one job of nothing else, and for short ones beside it.
 */
const HEX_BYTES = 7;

/** What a job expands to as commands, in bytes: bounds the memory and the time of what waits. */
export function costOf(parts: readonly InputPart[]): number {
  let cost = 0;
  for (const part of parts) {
    if (part.kind === "keys") cost += part.keys.length * KEY_BYTES;
    else for (const { by, bytes } of runsOf(part)) cost += by === "hex" ? bytes.length * HEX_BYTES : quotedBytes(bytes);
  }
  return cost;
}

/**
 * @throws AppError INVALID_ARGUMENT on an unknown key name, too much text or a paste with control characters: nothing
 * is typed.
 */
export function planInput(pane: PaneId, parts: readonly InputPart[], options: PlanOptions): InputPlan {
  requireTypable(parts);
  const buffers: string[] = [];
  const buffer = (): string => {
    if (buffers.length === 0) buffers.push(options.bufferName());
    return buffers[0]!;
  };
  return { groups: groupsOf(pane, parts, buffer, options), buffers };
}

function requireTypable(parts: readonly InputPart[]): void {
  let totalBytes = 0;
  for (const part of parts) {
    if (part.kind === "keys") {
      const unknown = part.keys.find((key) => !isKeyName(key));
      if (unknown !== undefined) throw unknownKey(unknown);
      continue;
    }
    totalBytes += part.bytes.length;
    if (totalBytes > MAX_INPUT_BYTES) {
      throw invalidArgument(`one input job holds at most ${MAX_INPUT_BYTES} bytes; split the text`);
    }
    if (part.kind === "paste") requirePasteText(part.bytes);
  }
}

function* groupsOf(
  pane: PaneId,
  parts: readonly InputPart[],
  buffer: () => string,
  { condition, pasteNeedsRaw }: PlanOptions,
): Generator<readonly string[], void> {
  let groups = 0;
  let line: string[] = [];
  let lineBytes = 0;
  const group = (): readonly string[] => {
    const typing =
      condition === undefined || line.length === 0 ? line : onlyIf(pane, condition, line, PANE_HAS_CHANGED);
    // Each time: somebody may have scrolled meanwhile, and a mode takes keys, and brackets from a paste.
    const all = [leaveModes(pane), ...typing];
    groups += 1;
    line = [];
    lineBytes = 0;
    return all;
  };
  for (const part of parts) {
    for (const commands of commandsOf(pane, part, buffer, pasteNeedsRaw)) {
      line.push(...commands);
      for (const { length } of commands) lineBytes += length;
      if (lineBytes > PASTE_PIECE_BYTES) yield group();
    }
  }
  if (groups === 0 || line.length > 0) yield group();
}

/** What belongs together, one after the other. */
function* commandsOf(
  pane: PaneId,
  part: InputPart,
  buffer: () => string,
  pasteNeedsRaw: () => boolean,
): Generator<readonly string[], void> {
  if (part.kind === "keys") {
    for (let at = 0; at < part.keys.length; at += KEYS_PER_COMMAND) {
      yield [sendKeys(pane, part.keys.slice(at, at + KEYS_PER_COMMAND))];
    }
    return;
  }
  for (const { by, bytes } of runsOf(part)) {
    const pieceBytes = by === "hex" ? KEYS_PER_COMMAND : PASTE_PIECE_BYTES;
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      if (by === "literal") yield [sendLiteral(pane, piece)];
      else if (by === "hex") yield [sendBytes(pane, piece)];
      else if (at + pieceBytes < bytes.length) yield [setBuffer(buffer(), piece, at > 0)];
      else {
        const paste = pasteBuffer(pane, buffer(), { bracketed: part.kind === "paste", raw: pasteNeedsRaw() });
        yield [setBuffer(buffer(), piece, at > 0), paste];
      }
    }
  }
}

interface Run {
  readonly by: "literal" | "hex" | "buffer";
  readonly bytes: Uint8Array;
}

/** What is typed as it is or goes from a buffer; as hexadecimal bytes what cannot, or is so short that it would take longer. */
function* runsOf({ kind, bytes }: Exclude<InputPart, { readonly kind: "keys" }>): Generator<Run, void> {
  if (kind === "paste" || bytes.length === 0) return yield { by: "buffer", bytes };
  if (bytes.length <= MAX_SEND_KEYS_BYTES) return yield { by: isPrintable(bytes) ? "literal" : "hex", bytes };
  let from = 0;
  const [nul, last] = [new Occurrences(bytes, 0), new Occurrences(bytes, 0xff)];
  for (let at = 0; at < bytes.length; at += 1) {
    const begin = at;
    at = Math.min(nul.from(begin), last.from(begin));
    if (at - begin < MIN_PASTED_BYTES) continue;
    if (from < begin) yield { by: "hex", bytes: bytes.subarray(from, begin) };
    yield { by: "buffer", bytes: bytes.subarray(begin, at) };
    from = at;
  }
  if (from < bytes.length) yield { by: "hex", bytes: bytes.subarray(from) };
}

/** Where a byte occurs: asked for ever later places. A megabyte is searched in one turn, and a loop of ours is slow until it is hot. */
class Occurrences {
  readonly #bytes: Uint8Array;
  readonly #byte: number;
  #next = -1;

  constructor(bytes: Uint8Array, byte: number) {
    this.#bytes = bytes;
    this.#byte = byte;
  }

  /** The first one from this index on, or the end. */
  from(index: number): number {
    if (this.#next < index) {
      const found = this.#bytes.indexOf(this.#byte, index);
      this.#next = found === -1 ? this.#bytes.length : found;
    }
    return this.#next;
  }
}

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
