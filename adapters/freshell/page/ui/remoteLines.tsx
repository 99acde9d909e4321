/** What other devices did, a line each, and what the page itself has to say. */
import type { DevicePage } from "../devicePage.ts";

const SHOWN_LINES = 4;

export function RemoteLines({ page }: { readonly page: DevicePage }) {
  const { view, problem, readLines, readNotes } = page.state;
  const lines = (view?.lines ?? []).filter(({ id }) => !readLines.has(id)).slice(-SHOWN_LINES);
  const notes = (view?.notes ?? []).filter((note) => !readNotes.has(note));
  return (
    <div class="lines" role="log" aria-label="What happened">
      {notes.map((note) => (
        <p key={note} class="line">
          <span>{note}</span>
          <Read onRead={() => page.update({ readNotes: new Set([...readNotes, note]) })} />
        </p>
      ))}
      {lines.map(({ id, who, what, canUndo, note }) => (
        <p key={id} class="line" data-line={id}>
          <span>
            <strong>{who}</strong> {what}
            {note === undefined ? "" : ` (${note})`}
          </span>
          {canUndo ? (
            <button type="button" class="button" onClick={() => void page.perform({ kind: "undo", lineId: id })}>
              Undo
            </button>
          ) : null}
          <Read onRead={() => page.read(id)} />
        </p>
      ))}
      {problem === undefined ? null : (
        <p class="line bad" role="alert">
          <span>{problem}</span>
          <Read onRead={() => page.update({ problem: undefined })} />
        </p>
      )}
    </div>
  );
}

const Read = ({ onRead }: { readonly onRead: () => void }) => (
  <button type="button" class="tool" aria-label="Read" onClick={onRead}>
    ✕
  </button>
);
