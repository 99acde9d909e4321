/** A file in a pane. */
export function EditorPane(_props: { readonly page: unknown; readonly filePath: string; readonly isActive: boolean }) {
  return <p class="pane-note">…</p>;
}
