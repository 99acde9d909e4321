/** Puts text on the clipboard; only what a person has just asked for by a click. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // By plain HTTP from another machine there is no such thing.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "heard";
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
