/** The pane of one agent, live; read-only until control is taken. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { systemClock } from "../../../../daemon/time/clock.ts";
import { Button } from "../../../pages/controls.tsx";
import { ScreenKeys } from "../../../pages/screenKeys.tsx";
import { useMedia } from "../../../pages/useMedia.ts";
import { useView } from "../../../pages/useView.ts";
import type { AgentCard } from "../model/agentCard.ts";
import type { Api } from "../net/api.ts";
import { Problem } from "./problem.tsx";
import { FIRST_STATUS } from "./paneStatus.ts";

const PANE_KEYS = ["Esc", "Tab", "C-c", "Enter", "←", "↓", "↑", "→"] as const;

/** A terminal's columns are too many for it. */
const NARROW = "(max-width: 719px)";
/** What a person chose: `yes`, `no`; else by the width. */
const STORED = "tmuxwire.reflow";

/** It stands in front of everything there (`styles/pane.css`). */
const IN_FRONT = "(max-width: 1099px)";

interface PaneViewProps {
  readonly card: AgentCard;
  readonly name: string;
  readonly api: Api;
  readonly onClose: () => void;
  /** Below the pane, where it stands in front of the card. */
  readonly children: ComponentChildren;
}

export function PaneView({ card, name, api, onClose, children }: PaneViewProps) {
  const { agent_id: agentId, tmux_pane_id: paneId } = card;
  const [status, setStatus] = useState(FIRST_STATUS);
  const isInFront = useMedia(IN_FRONT);
  const isNarrow = useMedia(NARROW);
  const [chosen, setChosen] = useState(() => localStorage.getItem(STORED));
  const isReflowed = chosen === null ? isNarrow : chosen === "yes";
  const reflowed = useRef<HTMLDivElement | null>(null);
  const choose = (): void => {
    const next = isReflowed ? "no" : "yes";
    localStorage.setItem(STORED, next);
    setChosen(next);
  };
  // Another pane is another stream.
  useEffect(() => setStatus(FIRST_STATUS), [agentId, paneId]);
  // xterm is most of the page's script: loaded with the first pane.
  const { place, view } = useView(
    () => import("./paneSession.ts"),
    ({ PaneSession }, at) =>
      new PaneSession({
        card,
        place: at,
        reflowed: reflowed.current,
        isReflowed,
        api,
        clock: systemClock,
        onStatus: setStatus,
      }),
    (words) => setStatus({ ...FIRST_STATUS, words }),
    [agentId, paneId, api],
  );
  // Also once its view is loaded.
  useEffect(() => view.current?.reflow(isReflowed), [isReflowed, status.live]);
  const { controlled, live, words, size, problem } = status;
  return (
    <section class={`pane${controlled ? " held" : ""}`} aria-label={`Pane of ${name}`}>
      <header class="pane-head">
        <h2 class="pane-title">
          {name} <span class="quiet">{paneId}</span>
        </h2>
        <div class="pane-buttons">
          {controlled ? (
            <Button kind="held-button" onPress={() => view.current?.release()}>
              Release
            </Button>
          ) : (
            <Button disabled={!live} onPress={() => view.current?.takeControl()}>
              Take control
            </Button>
          )}
          <Button kind="plain" label="Close the pane view" onPress={onClose}>
            ✕
          </Button>
        </div>
      </header>
      <div class="pane-line">
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
        <Button
          kind="plain small reflow-button"
          title={isReflowed ? "Show the pane's own columns" : "Wrap its text to this width"}
          onPress={choose}
        >
          {isReflowed ? "True columns" : "Reflow"}
        </Button>
      </div>
      <Problem words={problem ?? ""} />
      <div class={`screen${controlled ? " controlled" : ""}${isReflowed ? " reflowed" : ""}`}>
        <div class="true-columns" ref={place} />
        <div
          class="wrapped"
          ref={reflowed}
          hidden={!isReflowed}
          // What scrolls can be scrolled by keys.
          tabIndex={isReflowed ? 0 : undefined}
          role="region"
          aria-label={`Screen of ${name}`}
          onClick={() => view.current?.focus()}
        />
      </div>
      {controlled ? (
        <ScreenKeys class="pane-keys" keys={PANE_KEYS} onKey={(input) => view.current?.type(input)} />
      ) : null}
      {isInFront ? <div class="pane-reply">{children}</div> : null}
    </section>
  );
}
