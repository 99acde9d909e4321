/** Whether a key belongs to an input method. Safari says so of the key that ends a composition by its code alone. */
export const isComposing = ({ isComposing: isSaid, keyCode }: KeyboardEvent): boolean => isSaid || keyCode === 229;
