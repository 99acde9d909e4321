/**
 * Encodes asciicast, the format of terminal recordings, as lines: a header, then one JSON array per event, in order. Version
 * 2 counts seconds from the beginning, version 3 from the previous event. The format holds text, so output is decoded as
 * UTF-8 across pieces, and invalid bytes become U+FFFD.
 */

export type CastVersion = 2 | 3;

interface CastHeader {
  readonly cols: number;
  readonly rows: number;
  readonly startedUnixMs: number;
  readonly title?: string | undefined;
  /** The recorded pane; players ignore this. */
  readonly source: { readonly server: string; readonly pane: string; readonly input?: true };
}

/** Output, input, a resize, a marker with a label, and in version 3 the exit status. */
type CastEventCode = "o" | "i" | "r" | "m" | "x";

export class CastEncoder {
  readonly #version: CastVersion;
  readonly #input = new TextDecoder();
  #output = new TextDecoder();
  #lastMicros = 0;

  constructor(version: CastVersion) {
    this.#version = version;
  }

  header({ cols, rows, startedUnixMs, title, source }: CastHeader): string {
    const size = this.#version === 2 ? { width: cols, height: rows } : { term: { cols, rows } };
    const timestamp = Math.floor(startedUnixMs / 1_000);
    const named = title === undefined || title === "" ? {} : { title };
    return `${JSON.stringify({ version: this.#version, ...size, timestamp, ...named, tmuxwire: source })}\n`;
  }

  /** Empty while a character is incomplete. */
  output(atMs: number, bytes: Uint8Array): string {
    return this.#text(atMs, "o", this.#output.decode(bytes, { stream: true }));
  }

  /** A whole screen, including any incomplete character before it. */
  screen(atMs: number, bytes: Uint8Array): string {
    this.#output = new TextDecoder();
    return this.output(atMs, bytes);
  }

  /** Empty while a character is not complete. */
  input(atMs: number, bytes: Uint8Array): string {
    return this.#text(atMs, "i", this.#input.decode(bytes, { stream: true }));
  }

  resize(atMs: number, cols: number, rows: number): string {
    return this.#event(atMs, "r", `${cols}x${rows}`);
  }

  marker(atMs: number, label: string): string {
    return this.#event(atMs, "m", label);
  }

  /** Empty in version 2, which has no such event. */
  exit(atMs: number, status: number): string {
    return this.#version === 2 ? "" : this.#event(atMs, "x", String(status));
  }

  #text(atMs: number, code: CastEventCode, text: string): string {
    return text === "" ? "" : this.#event(atMs, code, text);
  }

  #event(atMs: number, code: CastEventCode, data: string): string {
    // Whole microseconds, so that intervals add up to the elapsed time.
    const micros = Math.max(this.#lastMicros, Math.round(atMs * 1_000));
    const shown = this.#version === 2 ? micros : micros - this.#lastMicros;
    this.#lastMicros = micros;
    return `[${(shown / 1_000_000).toFixed(6)}, "${code}", ${JSON.stringify(data)}]\n`;
  }
}
