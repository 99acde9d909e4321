/** The pane of one agent, live; read-only until control is taken. */
import { useEffect, useRef, useState } from "preact/hooks";
import { systemClock } from "../../../../daemon/time/clock.ts";
import { ScreenKeys } from "../../../pages/screenKeys.tsx";
import type { AgentCard } from "../model/agentCard.ts";
import type { Api } from "../net/api.ts";
import { nameOf } from "../words/stateWords.ts";
import { FIRST_STATUS } from "./paneStatus.ts";
import type { PaneSession } from "./paneSession.ts";

const PANE_KEYS = ["Esc", "Tab", "C-c", "Enter", "←", "↓", "↑", "→"] as const;

interface PaneViewProps {
  readonly card: AgentCard;
  readonly api: Api;
  readonly onClose: () => void;
}

export function PaneView({ card, api, onClose }: PaneViewProps) {
  const { agentId, paneId } = card;
  const place = useRef<HTMLDivElement>(null);
  const session = useRef<PaneSession | undefined>(undefined);
  const [status, setStatus] = useState(FIRST_STATUS);
  // Another pane is another stream.
  useEffect(() => {
    let closed = false;
    const open = async (): Promise<void> => {
      try {
        // xterm is most of the page's script: loaded with the first pane.
        const { PaneSession: Session } = await import("./paneSession.ts");
        if (closed || place.current === null) return;
        session.current = new Session({ agentId, place: place.current, api, clock: systemClock, onStatus: setStatus });
      } catch {
        setStatus({ ...FIRST_STATUS, words: "the page's own files cannot be loaded: reload the page" });
      }
    };
    setStatus(FIRST_STATUS);
    void open();
    return () => {
      closed = true;
      session.current?.close();
      session.current = undefined;
    };
  }, [agentId, paneId, api]);
  const { controlled, live, words, size, problem } = status;
  return (
    <section class={`pane${controlled ? " held" : ""}`} aria-label={`Pane of ${nameOf(card)}`}>
      <header class="pane-head">
        <h2 class="pane-title">
          {nameOf(card)} <span class="quiet">{paneId}</span>
        </h2>
        <div class="pane-buttons">
          {controlled ? (
            <button type="button" class="button held-button" onClick={() => session.current?.release()}>
              Release
            </button>
          ) : (
            <button type="button" class="button" disabled={!live} onClick={() => session.current?.takeControl()}>
              Take control
            </button>
          )}
          <button type="button" class="button plain" aria-label="Close the pane view" onClick={onClose}>
            ✕
          </button>
        </div>
      </header>
      <p class="pane-status" role="status">
        <span class={`dot ${live ? "good" : "bad"}`} aria-hidden="true" />
        {words}
        {size === "" ? null : <span class="quiet"> · {size}</span>}
        {controlled ? (
          <strong class="pane-held">
            {" "}
            · your keys go to the pane<span class="with-keyboard">; Ctrl+Shift+Esc gives it back</span>
          </strong>
        ) : (
          <span class="quiet"> · read-only</span>
        )}
      </p>
      {problem === undefined ? null : (
        <p class="pane-problem" role="alert">
          {problem}
        </p>
      )}
      {controlled ? (
        <ScreenKeys class="pane-keys" keys={PANE_KEYS} onKey={(input) => session.current?.type(input)} />
      ) : null}
      <div class={`screen${controlled ? " controlled" : ""}`}>
        <div ref={place} />
      </div>
    </section>
  );
}
