/** The page's buttons: with words, and with a sign alone. */
import type { ComponentChildren } from "preact";

interface ButtonProps {
  /** Without, it submits its form. */
  readonly onPress?: () => unknown;
  readonly children: ComponentChildren;
  readonly kind?: "primary" | "plain" | "left";
  /** Instead of its content, for screen readers. */
  readonly label?: string;
  readonly disabled?: boolean;
}

export const Button = ({ onPress, children, kind, label, disabled }: ButtonProps) => (
  <button
    type={onPress === undefined ? "submit" : "button"}
    class={kind === undefined ? "button" : `button ${kind}`}
    aria-label={label}
    disabled={disabled}
    onClick={onPress && (() => void onPress())}
  >
    {children}
  </button>
);

interface ToolProps {
  readonly label: string;
  readonly sign: string;
  /** Its key, after Alt+Shift. */
  readonly shortcut?: string;
  readonly onPress: () => void;
}

export const Tool = ({ label, sign, shortcut, onPress }: ToolProps) => (
  <button
    type="button"
    class="tool"
    aria-label={label}
    title={shortcut === undefined ? label : `${label} (Alt+Shift+${shortcut})`}
    onClick={onPress}
  >
    {sign}
  </button>
);
