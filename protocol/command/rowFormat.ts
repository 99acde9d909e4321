/**
 * A row that tmux prints for us, declared once: each field with its tmux format and a decoder. The format string and the row
 * decoder both derive from that, so that neither can change without the other. A row with an invalid id is skipped.
 */
import { isPaneId, isSessionId, isWindowId, type PaneId, type SessionId, type WindowId } from "../ids.ts";

/** A decoder's result for text that its field cannot have. */
const NOT_A_ROW = Symbol("not a row");

interface Field<Value> {
  readonly format: string;
  readonly read: (text: string) => Value | typeof NOT_A_ROW;
  /** Takes the rest of the row, including spaces, so it must be last. */
  readonly isRest?: boolean;
}

type Fields = Readonly<Record<string, Field<unknown>>>;
type Values<All extends Fields> = {
  readonly [Name in keyof All]: All[Name] extends Field<infer Value> ? Value : never;
};

/** Any other field, such as a list in one word. */
export const field = <Value>(format: string, read: (text: string) => Value): Field<Value> => ({ format, read });

const id = <Id extends string>(format: string, isId: (text: string) => text is Id): Field<Id> => ({
  format,
  read: (text) => (isId(text) ? text : NOT_A_ROW),
});

export const paneId: Field<PaneId> = id("#{pane_id}", isPaneId);
export const windowId: Field<WindowId> = id("#{window_id}", isWindowId);
export const sessionId: Field<SessionId> = id("#{session_id}", isSessionId);
export const number = (format: string): Field<number> => field(format, Number);
/** True if the text is 1. */
export const flag = (format: string): Field<boolean> => field(format, (text) => text === "1");
/** One word, or nothing; a row's fields are separated by spaces. */
export const word = (format: string): Field<string> => field(format, (text) => text);
/** A number, which is empty if it does not apply or is unknown. */
export const optionalNumber = (format: string): Field<number | undefined> =>
  field(format, (text) => (text === "" ? undefined : Number(text)));

/** Fields that are present only if `condition`, a format, is true; they must be the last of their row. */
export function when<All extends Fields>(condition: string, fields: All): Field<Values<All> | undefined> {
  const inner = rowFormat(fields);
  return {
    format: `#{?${condition},${inner.format},}`,
    read: (text) => (text === "" ? undefined : inner.decodeLine(text)),
    isRest: true,
  };
}

export interface RowFormat<Row, All extends Fields> {
  readonly format: string;
  readonly fields: All;
  /** Every row of a reply. */
  decode(body: Uint8Array): Row[];
  /** For a reply that is one row. */
  decodeOne(body: Uint8Array): Row | undefined;
  decodeLine(line: string): Row | undefined;
}

/** For ids and numbers only, separated by spaces. Text after the last field of a line is ignored. */
export function rowFormat<All extends Fields>(fields: All): RowFormat<Values<All>, All> {
  const columns = Object.entries(fields);
  const decodeLine = (line: string): Values<All> | undefined => {
    const words = line.split(" ");
    const row: Record<string, unknown> = {};
    for (let at = 0; at < columns.length; at += 1) {
      const [name, { read, isRest }] = columns[at]!;
      const value = read(isRest === true ? words.slice(at).join(" ") : (words[at] ?? ""));
      if (value === NOT_A_ROW) return undefined;
      row[name] = value;
    }
    return row as Values<All>;
  };
  return {
    format: columns.map(([, { format }]) => format).join(" "),
    fields,
    decode: (body) =>
      lines(body)
        .map(decodeLine)
        .filter((row) => row !== undefined),
    decodeOne: (body) => decodeLine(lines(body)[0] ?? ""),
    decodeLine,
  };
}

export interface ForeignRowFormat<Row> {
  readonly format: (nonce: string) => string;
  readonly decode: (body: Uint8Array, nonce: string) => Row[];
}

/**
 * For ids and numbers followed by fields that a program can influence. The reply's nonce precedes the row and each of these
 * fields, so that no text can be mistaken for a field or a row (docs/tmuxFacts.md 19).
 */
export function foreignRowFormat<All extends Fields, Foreign extends Readonly<Record<string, string>>>(
  fields: All,
  foreign: Foreign,
): ForeignRowFormat<Values<All> & { readonly [Name in keyof Foreign]: string }> {
  const own = rowFormat(fields);
  const texts = Object.entries(foreign);
  return {
    format: (nonce) => [own.format, ...texts.map(([, format]) => format)].map((part) => `${nonce}${part}`).join(""),
    decode: (body, nonce) =>
      foreignRows(body, nonce, texts.length + 1).flatMap(([first = "", ...rest]) => {
        const row: Record<string, unknown> | undefined = own.decodeLine(first);
        if (row === undefined) return [];
        for (const [at, [name]] of texts.entries()) row[name] = rest[at];
        return [row as Values<All> & { readonly [Name in keyof Foreign]: string }];
      }),
  };
}

const utf8 = new TextDecoder();

/** The lines of a reply's body; each ends with a line feed. */
export function lines(body: Uint8Array): string[] {
  const all = utf8.decode(body).split("\n");
  all.pop();
  return all;
}

/** Rows of `fields` texts each, where every field begins with the nonce and a row ends with its line. */
function foreignRows(body: Uint8Array, nonce: string, fields: number): string[][] {
  const texts = utf8.decode(body).split(nonce).slice(1);
  const rows: string[][] = [];
  for (let at = 0; at + fields <= texts.length; at += fields) {
    const row = texts.slice(at, at + fields);
    row[fields - 1] = row[fields - 1]!.replace(/\n$/, "");
    rows.push(row);
  }
  return rows;
}

/** The type of a decoded row. */
export type RowOf<Format extends { decode: (...inputs: never) => readonly unknown[] }> = ReturnType<
  Format["decode"]
>[number];
