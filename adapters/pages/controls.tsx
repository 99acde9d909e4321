/** Buttons: with words, and with a sign alone. */
import type { ComponentChildren, JSX } from "preact";

interface ButtonProps extends Omit<JSX.ButtonHTMLAttributes, "kind" | "label" | "children"> {
  /** Without, it submits its form. */
  readonly onPress?: (() => unknown) | undefined;
  readonly children: ComponentChildren;
  /** Classes beside `button`. */
  readonly kind?: string;
  /** Instead of its content, for screen readers. */
  readonly label?: string;
  /** By which it keeps the focus when it is moved. */
  readonly "data-focus"?: string;
  readonly "data-option"?: number | undefined;
}

export const Button = ({ onPress, children, kind, label, ...rest }: ButtonProps) => (
  <button
    type={onPress === undefined ? "submit" : "button"}
    class={kind === undefined ? "button" : `button ${kind}`}
    aria-label={label}
    onClick={onPress && (() => void onPress())}
    {...rest}
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
