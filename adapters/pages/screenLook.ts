/** The appearance of a screen. The same in both colour schemes: programs choose their colours for a dark screen. */
export const SCREEN_LOOK = {
  // `--mono` and `--screen` of tokens.css, which xterm cannot read.
  fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace',
  theme: {
    background: "#14161a",
    foreground: "#dedbd3",
    cursor: "#e9a23b",
    cursorAccent: "#14161a",
    selectionBackground: "#3c4a63",
  },
} as const;
