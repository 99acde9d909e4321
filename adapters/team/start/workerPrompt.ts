/**
 * Guards a prompt so that pi takes it literally. pi trims what it submits, runs text that begins with `!` in a shell, takes
 * `/word` as one of its commands, and turns a `\` before Enter into a newline; a leading space does not help, because it is
 * trimmed first. A zero-width space does: `String.prototype.trim` leaves it, and it is invisible. The worker's hook removes
 * it before the model is called; without the hook it stays and has no meaning.
 */
export const GUARD = "\u200b";

export function guardPrompt(text: string): string {
  const before = /^[\s!/]/.test(text) ? GUARD : "";
  const after = /[\s\\]$/.test(text) ? GUARD : "";
  return `${before}${text}${after}`;
}

/** The original text, for pi's `input` event; with a space before `/word`, or pi would look for a template of that name. */
export function unguardPrompt(text: string): string {
  const start = text.startsWith(GUARD) ? GUARD.length : 0;
  const end = text.endsWith(GUARD) && text.length > start ? -GUARD.length : undefined;
  const meant = text.slice(start, end);
  return start > 0 && meant.startsWith("/") ? ` ${meant}` : meant;
}
