/**
 * The attributes that the next character will get, folded from SGR sequences (ECMA-48 §8.3.117, and the colour and
 * underline forms that tmux's `input_csi_dispatch_sgr` knows). One slot per attribute holds the parameter that set it.
 */
type Slot =
  | "bold"
  | "dim"
  | "italic"
  | "underline"
  | "blink"
  | "inverse"
  | "hidden"
  | "strike"
  | "overline"
  | "fg"
  | "bg"
  | "underlineColour";

export type Pen = ReadonlyMap<Slot, string>;

export const DEFAULT_PEN: Pen = new Map();

const SETS: ReadonlyMap<number, Slot> = new Map([
  [1, "bold"],
  [2, "dim"],
  [3, "italic"],
  [4, "underline"],
  [5, "blink"],
  [6, "blink"],
  [7, "inverse"],
  [8, "hidden"],
  [9, "strike"],
  [21, "underline"],
  [53, "overline"],
]);

const CLEARS: ReadonlyMap<number, readonly Slot[]> = new Map([
  [22, ["bold", "dim"]],
  [23, ["italic"]],
  [24, ["underline"]],
  [25, ["blink"]],
  [27, ["inverse"]],
  [28, ["hidden"]],
  [29, ["strike"]],
  [39, ["fg"]],
  [49, ["bg"]],
  [55, ["overline"]],
  [59, ["underlineColour"]],
]);

const EXTENDED: ReadonlyMap<number, Slot> = new Map([
  [38, "fg"],
  [48, "bg"],
  [58, "underlineColour"],
]);

/** Parameters of `38;5;N` and `38;2;R;G;B`. */
const EXTENDED_LENGTH: ReadonlyMap<string, number> = new Map([
  ["5", 3],
  ["2", 5],
]);

/** Programs use few pens, and mostly set them from the default, after a reset. */
const FROM_DEFAULT = new Map<string, Pen>();
const MAX_KNOWN_PENS = 256;

/** The pen after one SGR sequence with these parameters (what is between `CSI` and `m`). */
export function applySgr(pen: Pen, parameters: string): Pen {
  if (parameters === "" || parameters === "0") return DEFAULT_PEN;
  if (pen !== DEFAULT_PEN) return changed(pen, parameters);
  let next = FROM_DEFAULT.get(parameters);
  if (next === undefined) {
    next = changed(pen, parameters);
    if (FROM_DEFAULT.size < MAX_KNOWN_PENS) FROM_DEFAULT.set(parameters, next);
  }
  return next;
}

function changed(pen: Pen, parameters: string): Pen {
  const next = new Map(pen);
  const list = parameters.split(";");
  for (let at = 0; at < list.length; at += 1) {
    const text = list[at]!;
    const code = Number.parseInt(text === "" ? "0" : text, 10);
    const extended = EXTENDED.get(code);
    if (extended !== undefined) {
      // An unknown form consumes its own number too, as in tmux.
      const used = text.includes(":") ? 1 : (EXTENDED_LENGTH.get(list[at + 1] ?? "") ?? 2);
      const complete = used !== 2 && at + used <= list.length;
      if (complete) next.set(extended, list.slice(at, at + used).join(";"));
      at += used - 1;
    } else if (code === 0) next.clear();
    else if (text === "4:0") next.delete("underline");
    else if (SETS.has(code)) next.set(SETS.get(code)!, text);
    else if (CLEARS.has(code)) for (const slot of CLEARS.get(code)!) next.delete(slot);
    else if (isBetween(code, 30, 37) || isBetween(code, 90, 97)) next.set("fg", text);
    else if (isBetween(code, 40, 47) || isBetween(code, 100, 107)) next.set("bg", text);
  }
  return next;
}

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const SGR = /\u001b\[([\d:;]*)m/g;

/** The pen after every SGR sequence of a text. */
export function penAfter(text: string, before = DEFAULT_PEN): Pen {
  let pen = before;
  for (const [, parameters = ""] of text.matchAll(SGR)) pen = applySgr(pen, parameters);
  return pen;
}

/** The sequence that sets exactly this pen, whatever was set before. */
export const sgrOf = (pen: Pen): string => `\u001b[${["0", ...pen.values()].join(";")}m`;

const isBetween = (code: number, low: number, high: number): boolean => code >= low && code <= high;
