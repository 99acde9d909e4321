/** A text as far as there is room for it, without half of a surrogate pair; what was left out is shown by an ellipsis. */
export const clip = (text: string, maxChars: number): string =>
  text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
