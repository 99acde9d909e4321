/**
 * Golden transcripts: what tmux wrote, byte for byte, as Markdown that a person can read, and the events it means.
 *
 * A byte outside printable ASCII is written `‹xx›` (two hex digits). The wire never shows `‹` otherwise, so the escape
 * is reversible. Lines end LF for `-C` and CR LF for `-CC`; a last line without an end is followed by `‹noeol›`.
 */
import {
  ControlParser,
  type ControlHandler,
  type GuardBlock,
  type ReplyShape,
} from "../../../protocol/control/parser.ts";
import { decodeOctal } from "../../../protocol/control/octal.ts";
import { AppError } from "../../../protocol/errors.ts";

export type Mode = "-C" | "-CC";

export interface Scene {
  readonly mode: Mode;
  /** What was sent, one `shape command` per expected reply. */
  readonly commands: readonly string[];
  readonly wire: Uint8Array;
  readonly events: readonly string[];
}

const NO_EOL = "‹noeol›";
const eol = (mode: Mode): string => (mode === "-CC" ? "\r\n" : "\n");

/** Bytes as printable ASCII, everything else escaped. */
export function showBytes(bytes: Uint8Array): string {
  let out = "";
  for (const byte of bytes) {
    out += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `‹${byte.toString(16).padStart(2, "0")}›`;
  }
  return out;
}

export function hideBytes(text: string): Uint8Array {
  const latin1 = text.replaceAll(/‹([0-9a-f]{2})›/g, (_all, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
  return Uint8Array.from(latin1, (char) => char.charCodeAt(0));
}

export function showWire(wire: Uint8Array, mode: Mode): string[] {
  const lines = Buffer.from(wire).toString("latin1").split(eol(mode));
  const last = lines.pop() ?? "";
  const shown = lines.map((line) => showBytes(Buffer.from(line, "latin1")));
  return last === "" ? shown : [...shown, showBytes(Buffer.from(last, "latin1")) + NO_EOL];
}

function hideWire(lines: readonly string[], mode: Mode): Uint8Array {
  const text = lines.map((line) => (line.endsWith(NO_EOL) ? line.slice(0, -NO_EOL.length) : line + eol(mode)));
  return hideBytes(text.join(""));
}

/** Writes down every call of a parser; `shapes` are what `expect` returns, one per block with flags 1. */
export class EventLog implements ControlHandler {
  readonly events: string[] = [];
  readonly blocks: GuardBlock[] = [];
  readonly #shapes: ReplyShape[];

  constructor(shapes: readonly ReplyShape[] = []) {
    this.#shapes = [...shapes];
  }

  output(paneNumber: number, line: Uint8Array, from: number, to: number): void {
    const bytes = new Uint8Array(Math.max(0, to - from));
    const length = decodeOctal(line, from, to, bytes, 0);
    this.events.push(`output %${paneNumber} ${showBytes(bytes.subarray(0, length))}`);
  }

  expect(): ReplyShape | undefined {
    return this.#shapes[0];
  }

  block(block: GuardBlock): void {
    if (block.client) this.#shapes.shift();
    this.blocks.push(block);
    const flags = [block.client ? "client" : "hook", block.ok ? "ok" : "failed", block.overflowed ? "overflowed" : ""];
    this.events.push(`block ${block.number} ${flags.join(" ").trim()}`);
    const rows = Buffer.from(block.body).toString("latin1").split("\n");
    if (rows.pop() !== "") throw new Error("a body that does not end with a line end");
    for (const row of rows) this.events.push(row === "" ? "  |" : `  | ${showBytes(Buffer.from(row, "latin1"))}`);
    if (block.trailer !== "") this.events.push(`  + ${showBytes(Buffer.from(block.trailer))}`);
  }

  notification(notification: Parameters<ControlHandler["notification"]>[0]): void {
    const { kind, ...fields } = notification;
    const shown = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    this.events.push([kind, ...shown].join(" "));
  }
}

/** The events of `chunks`, parsed by one parser. */
export function parseChunks(chunks: Iterable<Uint8Array>, shapes: readonly ReplyShape[] = []): EventLog {
  const log = new EventLog(shapes);
  const parser = new ControlParser(log);
  for (const chunk of chunks) parser.push(chunk);
  return log;
}

export interface Outcome {
  readonly events: readonly string[];
  /** The code of the AppError that ended it, or "". */
  readonly error: string;
  /** Most bytes the parser held after a chunk. */
  readonly heldBytes: number;
}

/** What becomes of bytes that may be no stream at all. @throws whatever is no AppError */
export function outcomeOf(chunks: readonly Uint8Array[], shapes: readonly ReplyShape[]): Outcome {
  const log = new EventLog(shapes);
  const parser = new ControlParser(log);
  let heldBytes = 0;
  try {
    for (const chunk of chunks) {
      parser.push(chunk);
      heldBytes = Math.max(heldBytes, parser.heldBytes);
    }
    return { events: log.events, error: "", heldBytes };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { events: log.events, error: error.code, heldBytes };
  }
}

/** `bytes` cut at `cuts` (any order, repeats and outsiders ignored); each chunk is a copy, as a transport gives it. */
export function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set([0, ...cuts.filter((cut) => cut > 0 && cut < bytes.length), bytes.length])];
  places.sort((a, b) => a - b);
  return places.slice(1).map((to, index) => bytes.slice(places[index], to));
}

/** The shapes of `SHAPES COMMAND`: `none`, `ours` or `foreign:NONCE`, by commas where one line has several replies. */
export function shapesOf(command: string): ReplyShape[] {
  const [shapes = ""] = command.split(" ");
  return shapes.split(",").map((shape) => {
    const [kind, nonce] = shape.split(":");
    if (kind === "foreign") return { kind, nonce: nonce ?? "" };
    if (kind === "none" || kind === "ours") return { kind };
    throw new Error(`no shape in "${command}"`);
  });
}

const fence = (name: string, lines: readonly string[]): string => ["```" + name, ...lines, "```"].join("\n");

export const renderScene = (scene: Scene): string =>
  [
    `## ${scene.mode}`,
    ...(scene.commands.length === 0 ? [] : [fence("commands", scene.commands)]),
    fence("control", showWire(scene.wire, scene.mode)),
    fence("events", scene.events),
  ].join("\n\n");

export function parseScenes(markdown: string): Scene[] {
  return markdown
    .split(/^## (?=-CC?$)/m)
    .slice(1)
    .map((section) => {
      const mode: Mode = section.startsWith("-CC") ? "-CC" : "-C";
      const block = (name: string): string[] =>
        new RegExp("^```" + name + "\\n([^]*?)^```$", "m").exec(section)?.[1]?.split("\n").slice(0, -1) ?? [];
      return { mode, commands: block("commands"), wire: hideWire(block("control"), mode), events: block("events") };
    });
}
