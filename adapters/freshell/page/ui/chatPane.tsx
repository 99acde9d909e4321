/** A conversation with an agent: messages, permission requests, and an input field. Plain text only. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ContentBlock, PermissionRequest } from "../../../../protocol/api/freshell/sessionEvents.ts";
import type { DevicePage } from "../devicePage.ts";
import { Button } from "../../../pages/controls.tsx";
import { SendBox } from "../../../pages/sendBox.tsx";
import {
  blockText,
  type Conversation,
  FIRST_CONVERSATION,
  withConnection,
  withFrame,
  withoutPermission,
  withSaid,
} from "../model/conversation.ts";

interface ChatPaneProps {
  readonly page: DevicePage;
  readonly sessionId: string;
  readonly isActive: boolean;
  /** Another conversation in this place. */
  readonly onNew: () => void;
}

export function ChatPane({ page, sessionId, isActive, onNew }: ChatPaneProps) {
  const [now, setNow] = useState<Conversation>(FIRST_CONVERSATION);
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(
    () =>
      page.sessions.join(sessionId, {
        message: (message) => setNow((was) => withFrame(was, message)),
        connected: () => setNow(withConnection),
        gone: () => setNow((was) => ({ ...was, status: was.status === "exited" ? "exited" : "gone" })),
        refused: (problem) => setNow((was) => ({ ...was, problem })),
      }),
    [page, sessionId],
  );
  useEffect(() => {
    const { unsaid } = now;
    if (unsaid === undefined) return;
    setText((written) => (written === "" ? unsaid : `${unsaid}\n${written}`));
    setNow((was) => ({ ...was, unsaid: undefined }));
  }, [now.unsaid]);
  useEffect(() => {
    if (isActive) field.current?.focus();
  }, [isActive]);
  // Scrolls to new messages, unless the person is reading further up.
  useEffect(() => {
    const place = list.current;
    if (place !== null && place.scrollHeight - place.scrollTop - place.clientHeight < 160)
      place.scrollTop = place.scrollHeight;
  }, [now]);
  const isOver = now.status === "exited" || now.status === "gone";
  const isBusy = now.status === "running" || now.status === "compacting";
  const say = (): void => {
    if (!page.sessions.send(sessionId, { type: "sdk.send", text })) {
      setNow({ ...now, problem: "Not connected: nothing was sent." });
      return;
    }
    setNow(withSaid(now, text));
    setText("");
  };
  const answer = (request: PermissionRequest, behavior: "allow" | "deny"): void => {
    const { requestId } = request;
    if (page.sessions.send(sessionId, { type: "sdk.permission.respond", requestId, behavior })) {
      setNow(withoutPermission(now, requestId));
    }
  };
  return (
    <div class="chat-pane" data-status={now.status}>
      <div class="chat-list" ref={list} role="log" aria-label="Conversation">
        {now.messages.map(({ role, content }, at) => (
          <Message key={at} role={role} content={content} />
        ))}
        {now.partial === "" ? null : <p class="said assistant">{now.partial}</p>}
        {now.permissions.map((request) => (
          <div key={request.requestId} class="pane-note request" role="alertdialog" aria-label="Permission request">
            <p>
              The agent wants to use <strong>{request.tool.name}</strong>:
            </p>
            <code class="request-text">{JSON.stringify(request.tool.input, undefined, 1)}</code>
            <div class="row">
              <Button kind="primary" onPress={() => answer(request, "allow")}>
                Allow
              </Button>
              <Button onPress={() => answer(request, "deny")}>Deny</Button>
            </div>
          </div>
        ))}
        {now.problem === undefined ? null : (
          <p class="bad" role="alert">
            {now.problem}
          </p>
        )}
      </div>
      {isOver ? (
        <p class="pane-note" role="status">
          {now.status === "gone" ? "This conversation no longer exists." : "The agent has ended."}{" "}
          <Button onPress={onNew}>Start a new one here</Button>
        </p>
      ) : (
        <SendBox
          label="Message"
          placeholder={isBusy ? "The agent is working…" : "Enter sends, Shift+Enter is a new line"}
          text={text}
          rows={2}
          field={field}
          onText={setText}
          onSend={say}
        >
          {isBusy ? (
            <Button onPress={() => page.sessions.send(sessionId, { type: "sdk.interrupt" })}>Stop</Button>
          ) : null}
        </SendBox>
      )}
    </div>
  );
}

const FOLDED = { thinking: "Thinking", tool: "Tool", result: "Tool result" } as const;

function Message({ role, content }: { readonly role: string; readonly content: readonly ContentBlock[] }) {
  return (
    <>
      {content.map((block, at) => {
        const shown = blockText(block);
        if (shown === undefined || shown.text === "") return null;
        if (shown.kind === "text") {
          return (
            <p key={at} class={`said ${role}`}>
              {shown.text}
            </p>
          );
        }
        return (
          <details key={at} class="folded">
            <summary>
              {FOLDED[shown.kind]} <span class="quiet">{shown.text.slice(0, 80)}</span>
            </summary>
            <pre>{shown.text}</pre>
          </details>
        );
      })}
    </>
  );
}
