/** Reports of focus, which xterm sends like input: the person looks at a page, nobody has entered the pane. */
export const isFocusReport = (data: string): boolean => data === "\u001b[I" || data === "\u001b[O";
