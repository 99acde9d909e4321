/**
 * A prompt as it is typed into pi, so that pi takes it as it stands. pi trims what it submits, runs what begins with `!` in
 * a shell, takes `/word` for a command of its own, and turns a `\` before Enter into a new line; a space in front changes
 * none of that, because it is trimmed first. A zero-width space does: `String.prototype.trim` leaves it, and nobody sees
 * it. The worker's hook takes it away again before the model is asked; without the hook it stays, and means nothing.
 */
export const GUARD = "\u200b";

export function guardPrompt(text: string): string {
  const before = /^[\s!/]/.test(text) ? GUARD : "";
  const after = /[\s\\]$/.test(text) ? GUARD : "";
  return `${before}${text}${after}`;
}

/** The text as it was meant, for pi's `input` event; a space before `/word`, or pi would look for a template of that name. */
export function unguardPrompt(text: string): string {
  const start = text.startsWith(GUARD) ? GUARD.length : 0;
  const end = text.endsWith(GUARD) && text.length > start ? -GUARD.length : undefined;
  const meant = text.slice(start, end);
  return start > 0 && meant.startsWith("/") ? ` ${meant}` : meant;
}
