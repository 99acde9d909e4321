/** Puts text on the clipboard, only on a person's click. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // No clipboard API on a page loaded over plain HTTP from another machine.
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "heard";
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
