/** tmux key names as a keyboard shows them. */

const SHOWN: ReadonlyMap<string, string> = new Map([
  ["Up", "↑"],
  ["Down", "↓"],
  ["Left", "←"],
  ["Right", "→"],
  ["Escape", "Esc"],
  ["BSpace", "⌫"],
  ["BTab", "⇧Tab"],
]);
/** Nobody counts `↓ ↓ ↓ ↓ ↓`. */
const MOST_REPEATED = 3;

/** `1`, `↓ ↓ Enter`, `↓ ×7 Enter`. */
export function keysLabel(keys: readonly string[]): string {
  const words: string[] = [];
  for (let at = 0; at < keys.length;) {
    const key = keys[at] ?? "";
    let end = at;
    while (keys[end] === key) end++;
    const shown = SHOWN.get(key) ?? key;
    words.push(
      ...(end - at > MOST_REPEATED ? [`${shown} ×${end - at}`] : Array.from({ length: end - at }, () => shown)),
    );
    at = end;
  }
  return words.join(" ");
}
