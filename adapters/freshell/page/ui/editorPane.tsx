/** A file in a pane. Unsaved changes stay in the page while the pane is unmounted. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type FileStatus, OpenFile } from "../net/openFile.ts";
import type { DevicePage } from "../devicePage.ts";
import { Button } from "./buttons.tsx";
import type { EditorView } from "./editorView.ts";

interface EditorPaneProps {
  readonly page: DevicePage;
  readonly filePath: string;
  readonly isActive: boolean;
}

/** Texts by path. */
const unsaved = new Map<string, string>();
/** Whether the page holds unsaved text. */
export const hasUnsaved = (): boolean => unsaved.size > 0;

export function EditorPane({ page, filePath, isActive }: EditorPaneProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const file = useRef<OpenFile | undefined>(undefined);
  const [status, setStatus] = useState<FileStatus>({ kind: "reading", isChanged: false, isNew: false });
  const save = (): void => void file.current?.save(view.current?.text ?? "");

  useEffect(() => {
    let isClosed = false;
    const opened = new OpenFile({
      path: filePath,
      api: page.api,
      onStatus: (next) => {
        if (!next.isChanged && next.kind === "ready") unsaved.delete(filePath);
        setStatus(next);
      },
      onText: (text) => {
        if (view.current !== undefined) view.current.text = text;
      },
    });
    file.current = opened;
    const open = async (): Promise<void> => {
      const { EditorView: View } = await import("./editorView.ts");
      if (isClosed || place.current === null) return;
      const draft = unsaved.get(filePath);
      view.current = new View({
        place: place.current,
        text: "",
        label: filePath,
        onChange: () => {
          const text = view.current?.text ?? "";
          unsaved.set(filePath, text);
          opened.changed(text);
        },
        onSave: save,
      });
      await opened.read();
      if (isClosed || draft === undefined) return;
      view.current.text = draft;
      unsaved.set(filePath, draft);
      opened.changed(draft);
    };
    open().catch(() =>
      setStatus({
        kind: "failed",
        isChanged: false,
        isNew: false,
        message: "the page's own files cannot be loaded: reload the page",
      }),
    );
    const check = (): void => void opened.check();
    globalThis.addEventListener("focus", check);
    return () => {
      isClosed = true;
      globalThis.removeEventListener("focus", check);
      view.current?.close();
      view.current = undefined;
    };
  }, [page, filePath]);

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
