/** Keys that an on-screen keyboard lacks; the style sheets show them where one is likely. */

/** What each key types. */
const KEYS = {
  Esc: "\u001b",
  Tab: "\t",
  "C-c": "\u0003",
  "C-d": "\u0004",
  Enter: "\r",
  "←": "\u001b[D",
  "↓": "\u001b[B",
  "↑": "\u001b[A",
  "→": "\u001b[C",
} as const;

interface ScreenKeysProps {
  readonly class: string;
  readonly keys: readonly (keyof typeof KEYS)[];
  readonly onKey: (typed: string) => void;
}

export const ScreenKeys = ({ class: name, keys, onKey }: ScreenKeysProps) => (
  <div class={name} role="group" aria-label="Keys">
    {keys.map((key) => (
      // Keeps the focus in the terminal, and so the on-screen keyboard open.
      <button
        key={key}
        type="button"
        class="button"
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onKey(KEYS[key])}
      >
        {key}
      </button>
    ))}
  </div>
);
