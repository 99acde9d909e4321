/** A card that moves in the list keeps the focus inside it. */

/** Call before rendering; call what it returns after. */
export function keepFocus(document: Document): () => void {
  const focused = document.activeElement;
  const card = focused?.closest<HTMLElement>("[data-agent]");
  if (focused === null || card === null || card === undefined) return () => undefined;
  const { id } = card;
  const name = focused.getAttribute("data-focus");
  return () => {
    if (document.activeElement !== document.body && document.activeElement !== null) return;
    const now = document.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
    const same = name === null ? null : now?.querySelector<HTMLElement>(`[data-focus="${CSS.escape(name)}"]`);
    (same ?? now)?.focus({ preventScroll: true });
  };
}
