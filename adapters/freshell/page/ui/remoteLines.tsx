/** What other devices did, a line each, and the page's own notes and problems. */
import type { DevicePage } from "../devicePage.ts";
import { Tool } from "./buttons.tsx";
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
          <Tool label="Dismiss" sign="✕" onPress={() => page.update({ readNotes: new Set([...readNotes, note]) })} />
        </p>
      ))}
      {lines.map((line) => (
        <p key={line.id} class="line" data-line={line.id}>
          <RemoteLineText page={page} line={line} />
          <Tool label="Dismiss" sign="✕" onPress={() => page.read(line.id)} />
        </p>
      ))}
      {problem === undefined ? null : (
        <p class="line bad" role="alert">
          <span>{problem}</span>
          <Tool label="Dismiss" sign="✕" onPress={() => page.update({ problem: undefined })} />
        </p>
      )}
    </div>
  );
}
