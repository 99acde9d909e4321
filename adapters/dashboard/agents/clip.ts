/** A text as far as there is room for it; what was left out is shown by an ellipsis. */
export const clip = (text: string, maxChars: number): string => {
  if (text.length <= maxChars) return text;
  const cut = text.slice(0, maxChars - 1);
  // Do not cut a surrogate pair.
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
};
