/** What other devices did, a line each, and what the page itself has to say. */
import type { DevicePage } from "../devicePage.ts";
import { RemoteLineText } from "./remoteLineText.tsx";

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
      {lines.map((line) => (
        <p key={line.id} class="line" data-line={line.id}>
          <RemoteLineText page={page} line={line} />
          <Read onRead={() => page.read(line.id)} />
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
