/** A terminal in a pane: its screen, its program's status, and the program's requests to the person. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { AGENTS } from "../../../pages/knownAgents.ts";
import { isComposing } from "../../../pages/composing.ts";
import { ScreenKeys } from "../../../pages/screenKeys.tsx";
import { useView } from "../../../pages/useView.ts";
import type { DevicePage } from "../devicePage.ts";
import { Button } from "../../../pages/controls.tsx";
import type { TerminalStatus } from "./terminalView.ts";
import type { Found } from "../model/terminalFind.ts";

interface TerminalPaneProps {
  readonly page: DevicePage;
  readonly paneId: string;
  readonly terminalId: string;
  /** Hints for starting one like it. */
  readonly hints: Readonly<Record<string, unknown>>;
  readonly isActive: boolean;
  readonly isFinding: boolean;
  readonly isSilent: boolean;
  /** The title set by the program. */
  readonly onTitle: (title: string) => void;
}

const TOUCH_KEYS = ["Esc", "Tab", "C-c", "C-d", "←", "↓", "↑", "→"] as const;

type ProgramRequest =
  | { readonly kind: "clipboard"; readonly text: string }
  | { readonly kind: "link"; readonly url: string };

export function TerminalPane({
  page,
  paneId,
  terminalId,
  hints,
  isActive,
  isFinding,
  isSilent,
  onTitle,
}: TerminalPaneProps) {
  // For callbacks that outlive this rendering.
  const latest = useRef({ isSilent, isActive, onTitle });
  latest.current = { isSilent, isActive, onTitle };
  const [status, setStatus] = useState<TerminalStatus>({ kind: "connecting" });
  const [request, setRequest] = useState<ProgramRequest | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const { place, view } = useView(
    () => import("./terminalView.ts"),
    ({ TerminalView }, at) => {
      const made = new TerminalView({
        place: at,
        terminalId,
        streams: page.streams,
        isSilent: () => latest.current.isSilent,
        onStatus: setStatus,
        onTitle: (title) => latest.current.onTitle(title),
        onClipboard: (text) => setRequest({ kind: "clipboard", text }),
        onLink: (url) => setRequest({ kind: "link", url }),
        onFocus: () => {
          if (!latest.current.isActive) void page.perform(select(paneId));
        },
      });
      if (latest.current.isActive) made.focus();
      return made;
    },
    setProblem,
    [page, paneId, terminalId],
  );
  useEffect(() => {
    const atPage = (): void => {
      if (latest.current.isActive) view.current?.fit();
    };
    globalThis.addEventListener("focus", atPage);
    return () => globalThis.removeEventListener("focus", atPage);
  }, []);

  useLayoutEffect(() => {
    if (isActive && !isFinding) view.current?.focus();
  }, [isActive, isFinding]);

  return (
    <div class="terminal-pane" data-terminal={terminalId} data-status={status.kind}>
      {isFinding ? (
        <FindBar
          onFind={(text, step) => view.current?.find(text, step) ?? { count: 0, index: 0 }}
          onClose={() => {
            view.current?.clearFind();
            page.update({ findingIn: undefined });
          }}
        />
      ) : null}
      <div class="terminal-place" ref={place} />
      <ScreenKeys class="touch-keys" keys={TOUCH_KEYS} onKey={(data) => view.current?.type(data)} />
      {problem === undefined ? null : <p class="pane-note bad">{problem}</p>}
      <StatusNote
        status={status}
        onStart={() => void page.perform({ kind: "terminal", paneId, options: startOptions(hints) })}
        onRespawn={() =>
          void page.perform({ kind: "command", command: "respawn-pane", args: { target: `pane:${paneId}` } })
        }
      />
      {request === undefined ? null : <RequestNote request={request} onDone={() => setRequest(undefined)} />}
    </div>
  );
}

const select = (paneId: string) =>
  ({ kind: "command", command: "select-pane", args: { target: `pane:${paneId}` } }) as const;

/** Options from an earlier page's data about a terminal that is gone. */
export function startOptions(hints: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { mode, shell, initialCwd, resumeSessionId } = hints;
  return {
    ...(typeof mode === "string" ? { mode } : {}),
    ...(typeof shell === "string" && (mode === undefined || mode === "shell") ? { shell } : {}),
    ...(typeof initialCwd === "string" ? { cwd: initialCwd } : {}),
    ...(typeof resumeSessionId === "string" && AGENTS.some(({ name, resumes }) => name === mode && resumes)
      ? { resumeSessionId }
      : {}),
  };
}

interface StatusNoteProps {
  readonly status: TerminalStatus;
  readonly onStart: () => void;
  readonly onRespawn: () => void;
}

function StatusNote({ status, onStart, onRespawn }: StatusNoteProps) {
  switch (status.kind) {
    case "live":
    case "connecting":
      return null;
    case "lost":
      return (
        <p class="pane-note over" role="status">
          Not connected: typed keys are lost.
        </p>
      );
    case "gone":
      return (
        <p class="pane-note" role="status">
          This terminal no longer exists. <Button onPress={onStart}>Start a new one here</Button>
        </p>
      );
    case "exited":
      return (
        <p class="pane-note" role="status">
          The program has ended{status.exitCode === null ? "" : ` (${status.exitCode})`}.{" "}
          <Button onPress={onRespawn}>Start it again</Button>
        </p>
      );
  }
}

const MAX_SHOWN_CHARS = 200;

/** What a program asks for: the person decides, and sees the text or the link. */
function RequestNote({ request, onDone }: { readonly request: ProgramRequest; readonly onDone: () => void }) {
  const isLink = request.kind === "link";
  const text = isLink ? request.url : request.text;
  const shown = text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
  return (
    <div
      class="pane-note request over"
      role="alertdialog"
      aria-label={isLink ? "Open a link" : "Copy to the clipboard"}
    >
      <p>
        {isLink ? "This link leads to:" : `The program wants to put this on the clipboard (${text.length} characters):`}
      </p>
      <code class="request-text">{shown}</code>
      <div class="row">
        {isLink ? (
          <a class="button primary" href={request.url} target="_blank" rel="noopener noreferrer" onClick={onDone}>
            Open
          </a>
        ) : (
          <Button
            kind="primary"
            onPress={() => {
              void copyText(request.text);
              onDone();
            }}
          >
            Allow
          </Button>
        )}
        <Button onPress={onDone}>{isLink ? "Cancel" : "Ignore"}</Button>
      </div>
    </div>
  );
}

/** Puts text on the clipboard, only on a person's click. */
async function copyText(text: string): Promise<void> {
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

/** Searching in a terminal: Enter for the next match above, Shift+Enter for the next below. */
interface FindBarProps {
  readonly onFind: (text: string, step: 1 | -1) => Found;
  readonly onClose: () => void;
}

function FindBar({ onFind, onClose }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found | undefined>(undefined);
  // A layout effect: the next key must go to the field.
  useLayoutEffect(() => field.current?.focus(), []);
  const find = (wanted: string, step: 1 | -1): void => setFound(wanted === "" ? undefined : onFind(wanted, step));
  return (
    <form
      class="find-bar"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        find(text, -1);
      }}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === "Escape") onClose();
        else if (event.key === "Enter" && event.shiftKey) {
          event.preventDefault();
          find(text, 1);
        } else return;
        event.stopPropagation();
      }}
    >
      <input
        ref={field}
        type="search"
        aria-label="Search in this terminal"
        placeholder="Search"
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          find(value, -1);
        }}
      />
      <span class="quiet" role="status">
        {found === undefined ? "" : found.count === 0 ? "none" : `${found.index}/${found.count}`}
      </span>
      <Button kind="plain" label="Previous">
        ↑
      </Button>
      <Button kind="plain" label="Next" onPress={() => find(text, 1)}>
        ↓
      </Button>
      <Button kind="plain" label="Close the search" onPress={onClose}>
        ✕
      </Button>
    </form>
  );
}
