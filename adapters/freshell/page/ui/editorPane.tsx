/** A file in a pane. Unsaved changes stay in the page while the pane is unmounted. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type Draft, type FileStatus, OpenFile } from "../net/openFile.ts";
import type { DevicePage } from "../devicePage.ts";
import { Button } from "../../../pages/controls.tsx";
import { useView } from "../../../pages/useView.ts";

interface EditorPaneProps {
  readonly page: DevicePage;
  readonly filePath: string;
  readonly isActive: boolean;
}

/** By path. */
const unsaved = new Map<string, Draft>();
/** Whether the page holds unsaved text. */
export const hasUnsaved = (): boolean => unsaved.size > 0;

export function EditorPane({ page, filePath, isActive }: EditorPaneProps) {
  const file = useRef<OpenFile | undefined>(undefined);
  const [status, setStatus] = useState<FileStatus>({ kind: "reading", isChanged: false, isNew: false });
  const save = (): void => void file.current?.save(view.current?.text ?? "");
  const { place, view } = useView(
    () => import("./editorView.ts"),
    ({ EditorView }, at) => {
      const opened = new OpenFile({
        path: filePath,
        api: page.api,
        onStatus: (next) => {
          const { draft } = opened;
          if (next.kind === "ready" && !next.isChanged) unsaved.delete(filePath);
          // Saved while somebody went on writing.
          else if (next.kind === "ready" && unsaved.get(filePath)?.text === draft.text) unsaved.set(filePath, draft);
          setStatus(next);
        },
        onText: (text) => (made.text = text),
      });
      const made = new EditorView({
        place: at,
        text: "",
        label: filePath,
        onChange: () => {
          unsaved.set(filePath, { ...opened.draft, text: made.text });
          opened.changed(made.text);
        },
        onSave: save,
      });
      file.current = opened;
      const read = async (): Promise<void> => {
        const draft = unsaved.get(filePath);
        await opened.read();
        if (view.current !== made || draft === undefined) return;
        made.text = draft.text;
        unsaved.set(filePath, draft);
        opened.resume(draft);
      };
      void read();
      return made;
    },
    (message) => setStatus({ kind: "failed", isChanged: false, isNew: false, message }),
    [page, filePath],
  );
  useEffect(() => {
    const check = (): void => void file.current?.check();
    globalThis.addEventListener("focus", check);
    return () => globalThis.removeEventListener("focus", check);
  }, []);

  useEffect(() => {
    if (isActive && status.kind === "ready") view.current?.focus();
  }, [isActive, status.kind]);

  return (
    <div class="editor-pane" data-file={status.kind}>
      <div class="address">
        <code class="path" title={filePath}>
          {filePath}
        </code>
        <span class="quiet" role="status">
          {wordsOf(status)}
        </span>
        <Button disabled={!status.isChanged && !status.isNew} onPress={save}>
          Save
        </Button>
      </div>
      {status.kind === "conflict" ? (
        <div class="pane-note request" role="alertdialog" aria-label="The file has changed">
          <p>The file has changed since it was read. Nothing was written.</p>
          <div class="row">
            <Button onPress={() => file.current?.read()}>Take theirs</Button>
            <Button onPress={() => file.current?.overwrite(view.current?.text ?? "")}>Write mine over it</Button>
          </div>
        </div>
      ) : null}
      {status.kind === "failed" ? (
        <p class="pane-note bad" role="alert">
          {status.message} {status.isChanged ? null : <Button onPress={() => file.current?.read()}>Try again</Button>}
        </p>
      ) : null}
      <div class="editor-place" ref={place} />
    </div>
  );
}

function wordsOf({ kind, isChanged, isNew }: FileStatus): string {
  if (kind === "reading") return "reading…";
  if (kind === "saving") return "saving…";
  if (isChanged) return "not saved";
  return isNew ? "new file" : "";
}
