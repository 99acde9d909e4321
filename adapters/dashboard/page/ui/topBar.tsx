/** Name, how many ask, and the page's own switches. */
import { useState } from "preact/hooks";
import { Button } from "../../../pages/controls.tsx";
import type { LinkState } from "../model/pageState.ts";
import { ClockIcon } from "./clockIcon.tsx";
import type { Notifier, NotifierState } from "./notifier.ts";
import { NotifyDialog } from "./dialogs/notifyDialog.tsx";

interface TopBarProps {
  readonly asking: number;
  readonly link: LinkState;
  readonly notifier: Notifier;
  readonly onTimeline: () => void;
  readonly onRecordings: () => void;
  readonly onHelp: () => void;
}

const NOTIFY_WORDS: Readonly<Record<NotifierState, string>> = {
  unsupported: "",
  off: "Notify me",
  on: "Notifying",
  denied: "Notifications blocked",
};

export function TopBar({ asking, link, notifier, onTimeline, onRecordings, onHelp }: TopBarProps) {
  const [isNotifyOpen, setNotifyOpen] = useState(false);
  const notifications = notifier.state;
  const live = link.kind === "live";
  return (
    <>
      <header class="top">
        <h1 class="brand">
          <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
            <path d="M6 9l7 7-7 7" />
            <circle cx="22" cy="22" r="4" />
          </svg>
          <span class="brand-name">tmuxwire</span>
        </h1>
        <p class={`tally${asking > 0 ? " some" : ""}`}>
          {asking === 0 ? "nobody needs you" : asking === 1 ? "1 needs you" : `${asking} need you`}
        </p>
        <div class="top-buttons">
          <span class="link-state" title={live ? "connected" : "not connected"}>
            <span class={`dot ${live ? "good" : "bad"}`} aria-hidden="true" />
            <span class="heard">{live ? "connected" : "not connected"}</span>
          </span>
          {notifications === "unsupported" ? null : (
            <Button
              kind="plain with-icon notify"
              label={NOTIFY_WORDS[notifications]}
              aria-pressed={notifications === "on"}
              disabled={notifications === "denied"}
              title={notifications === "denied" ? "allow them for this address in the browser's settings" : undefined}
              onPress={() => setNotifyOpen(true)}
            >
              <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
                <path d="M6 16v-5a6 6 0 0 1 12 0v5l1.5 2h-15z" />
                <path d="M10 20.5a2.2 2.2 0 0 0 4 0" />
              </svg>
              <span class="wide">{NOTIFY_WORDS[notifications]}</span>
            </Button>
          )}
          <Button kind="plain with-icon" label="Timeline" title="Timeline of all agents (t)" onPress={onTimeline}>
            <ClockIcon />
            <span class="wide">Timeline</span>
          </Button>
          <Button kind="plain with-icon" label="Recordings" title="Recordings" onPress={onRecordings}>
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
              <circle cx="12" cy="12" r="9" />
              <path d="M10 8.5v7l6-3.5z" />
            </svg>
            <span class="wide">Recordings</span>
          </Button>
          <Button kind="plain" label="Keyboard help" title="Keyboard help (?)" onPress={onHelp}>
            ?
          </Button>
        </div>
      </header>
      {isNotifyOpen ? <NotifyDialog notifier={notifier} onClose={() => setNotifyOpen(false)} /> : null}
    </>
  );
}
