/** A pane: its title, its actions, and its content. */
import { useState, useEffect } from "preact/hooks";
import type { LayoutLeaf } from "../../../../protocol/api/freshell/deviceLayout.ts";
import type { DevicePage } from "../devicePage.ts";
import { paneTitle } from "./deviceState.ts";
import { Tool } from "../../../pages/controls.tsx";
import { act, change, selectPane, split, stepPane, zoom } from "./deviceActions.ts";
import { ChatPane } from "./chatPane.tsx";
import { EditorPane } from "./editorPane.tsx";
import { PickerPane, startConversation, withScheme } from "./pickerPane.tsx";
import { RenameField } from "./renameField.tsx";
import { TerminalPane } from "./terminalPane.tsx";

interface PaneFrameProps {
  readonly page: DevicePage;
  readonly leaf: LayoutLeaf;
  readonly isActive: boolean;
  readonly index: number;
  readonly count: number;
  readonly isZoomed: boolean;
  readonly isNarrow: boolean;
}

export function PaneFrame({ page, leaf, isActive, index, count, isZoomed, isNarrow }: PaneFrameProps) {
  const { id, content } = leaf;
  const [program, setProgram] = useState("");
  const title = paneTitle(leaf, program);
  const target = `pane:${id}`;
  const { renaming } = page.state;
  return (
    <section
      class={`pane${isActive ? " active" : ""}`}
      aria-label={`Pane ${index + 1} of ${count}: ${title}`}
      onPointerDownCapture={() => {
        if (!isActive) selectPane(page, id);
      }}
    >
      <header class="pane-head">
        {renaming?.kind === "pane" && renaming.id === id ? (
          <RenameField
            title={title}
            label="Title of the pane"
            onDone={(given) => {
              page.update({ renaming: undefined });
              if (given === undefined || given === title) return;
              void page.perform({ kind: "paneTitle", paneId: id, title: given === "" ? undefined : given });
            }}
          />
        ) : (
          <h2 class="pane-title" onDblClick={() => page.update({ renaming: { kind: "pane", id } })}>
            {title}
          </h2>
        )}
        <div class="pane-buttons">
          {isNarrow && count > 1 ? (
            <>
              <Tool label="Previous pane" sign="‹" onPress={() => stepPane(page, -1)} />
              <span class="quiet pane-index">
                {index + 1}/{count}
              </span>
              <Tool label="Next pane" sign="›" onPress={() => stepPane(page, 1)} />
            </>
          ) : null}
          {content.kind === "terminal" ? (
            <Tool label="Search" sign="⌕" onPress={() => act(page, { kind: "find" })} />
          ) : null}
          <Tool label="Split side by side" sign="◫" onPress={() => split(page, id, "horizontal")} />
          <Tool label="Split one above the other" sign="⊟" onPress={() => split(page, id, "vertical")} />
          {count > 1 && !isNarrow ? (
            <Tool label={isZoomed ? "Show all panes" : "Zoom"} sign={isZoomed ? "⤡" : "⤢"} onPress={() => zoom(page)} />
          ) : null}
          <Tool label={`Close the pane ${title}`} sign="✕" onPress={() => change(page, "kill-pane", { target })} />
        </div>
      </header>
      <div class="pane-body">
        <PaneBody page={page} leaf={leaf} isActive={isActive} onTitle={setProgram} />
      </div>
    </section>
  );
}

interface PaneBodyProps extends Pick<PaneFrameProps, "page" | "leaf" | "isActive"> {
  readonly onTitle: (title: string) => void;
}

function PaneBody({ page, leaf, isActive: isShown, onTitle }: PaneBodyProps) {
  const { id, content } = leaf;
  const { findingIn, role, renaming, dialog } = page.state;
  // After a rename or a dialog the focus returns to the pane.
  const isActive = isShown && renaming === undefined && dialog === undefined;
  switch (content.kind) {
    case "terminal":
      return (
        <TerminalPane
          key={content.terminalId}
          page={page}
          paneId={id}
          terminalId={content.terminalId}
          hints={content}
          isActive={isActive}
          isFinding={findingIn === id}
          isSilent={role !== "owner"}
          onTitle={onTitle}
        />
      );
    case "browser":
      return <BrowserPane page={page} paneId={id} url={content.url} />;
    case "editor":
      return <EditorPane key={content.filePath} page={page} filePath={content.filePath} isActive={isActive} />;
    case "claude-chat": {
      const { sessionRef } = content;
      if (sessionRef?.provider !== "sdk") break;
      const onNew = (): void => void startConversation(page, id, {});
      return (
        <ChatPane
          key={sessionRef.sessionId}
          page={page}
          sessionId={sessionRef.sessionId}
          isActive={isActive}
          onNew={onNew}
        />
      );
    }
    case "picker":
      break;
  }
  return <PickerPane page={page} paneId={id} hints={content} isActive={isActive} />;
}

interface BrowserPaneProps {
  readonly page: DevicePage;
  readonly paneId: string;
  readonly url: string;
}

const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-downloads allow-modals";

/**
 * A web page in a pane: sandboxed, so that it can neither leave its frame nor open dialogs as this page. Our own origin is not
 * shown in it: such a page could remove the sandbox.
 */
function BrowserPane({ page, paneId, url }: BrowserPaneProps) {
  const [text, setText] = useState(url);
  const [loads, setLoads] = useState(0);
  useEffect(() => setText(url), [url]);
  const isOurs = URL.canParse(url) && new URL(url).origin === location.origin;
  return (
    <div class="browser-pane">
      <form
        class="address"
        onSubmit={(event) => {
          event.preventDefault();
          change(page, "navigate", { target: `pane:${paneId}`, url: withScheme(text.trim()) });
        }}
      >
        <Tool label="Reload" sign="⟳" onPress={() => setLoads(loads + 1)} />
        <input aria-label="Address" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <a class="tool" href={url} target="_blank" rel="noopener noreferrer" aria-label="Open in a new window">
          ↗
        </a>
      </form>
      {isOurs ? (
        <p class="pane-note">A page of this server is not shown in a pane.</p>
      ) : (
        <iframe key={`${url} ${loads}`} src={url} sandbox={SANDBOX} referrerpolicy="no-referrer" title={url} allow="" />
      )}
    </div>
  );
}
