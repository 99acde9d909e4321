/** Reports of focus, which xterm sends like input: focusing the page is not focusing the pane. */
export const isFocusReport = (data: string): boolean => data === "\u001b[I" || data === "\u001b[O";
