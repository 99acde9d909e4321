/**
 * Recorded output for a live terminal. Sequences that would make the terminal answer (into the shell's input), write to the
 * clipboard or report the mouse and pastes are left out: they were meant for another terminal. What is drawn stays as it
 * is.
 */

/* oxlint-disable no-control-regex -- control characters are what this is about */
const CSI = /\u001b\[([0-?]*)([ -/]*)([@-~])/gu;
const STRINGS = /\u001b([\]PX^_])([^\u0007\u001b]*)(?:\u0007|\u001b\\)/gu;
/** An incomplete sequence at the end, to be completed by the next chunk. */
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b]*\u001b?|[ -/]*)$/u;
/** ENQ, which terminals answer, and the C1 controls, which begin sequences of their own. */
const ANSWERED = /[\u0005\u0080-\u009f]/gu;
/* oxlint-enable no-control-regex */

/** Longer than any sequence that draws: dropped. */
const MAX_UNFINISHED_CHARS = 65_536;

/** The mouse, focus, bracketed paste, colour scheme reports. */
const REPORTING = /^\?(?:\d*;)*(?:9|100[0-6]|101[56]|2004|2031)(?:;|$)/;

/** Call it with the output in order. */
export function quietOutput(): (text: string) => string {
  let rest = "";
  return (text) => {
    const all = rest + text;
    const unfinished = UNFINISHED.exec(all)?.[0] ?? "";
    rest = unfinished.length > MAX_UNFINISHED_CHARS ? "" : unfinished;
    return all
      .slice(0, all.length - unfinished.length)
      .replace(STRINGS, (sequence, kind: string, body: string) =>
        kind === "]" && body.startsWith("8;") ? sequence : "",
      )
      .replace(CSI, (sequence, parameters: string, between: string, final: string) =>
        isLoud(parameters, between, final) ? "" : sequence,
      )
      .replace(ANSWERED, "");
  };
}

function isLoud(parameters: string, between: string, final: string): boolean {
  switch (final) {
    // Device attributes, status and parameters; sizes and windows; keyboard protocols.
    case "c":
    case "n":
    case "t":
    case "x":
      return true;
    case "u":
      return parameters !== "";
    case "p":
      return between === "$";
    case "q":
      return parameters.startsWith(">");
    case "m":
      return parameters.startsWith(">") || parameters.startsWith("?");
    case "h":
      return REPORTING.test(parameters);
    default:
      return false;
  }
}

/** Resets a terminal for a shell. */
export const TERMINAL_AT_REST =
  "\u001b[0m\u001b[?1049l\u001b[r\u001b[?25h\u001b[?1l\u001b>\u001b[?7h\u001b[4l\u001b(B\u000f";
