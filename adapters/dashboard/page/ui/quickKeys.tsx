/** Single keys for what the question does not offer. Control-C ends programs, so it takes two presses. */
import { useEffect, useState } from "preact/hooks";
import { systemClock } from "../../../../daemon/time/clock.ts";
import type { Answer } from "../model/answers.ts";
import { QUICK_KEYS } from "../model/answers.ts";

/** How long a first press on Control-C counts. */
const ARMED_MS = 3_000;

export function QuickKeys({ busy, onAnswer }: { readonly busy: boolean; readonly onAnswer: (answer: Answer) => void }) {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return undefined;
    const timer = systemClock.callAt(systemClock.nowMs() + ARMED_MS, () => setArmed(false));
    return () => timer.cancel();
  }, [armed]);
  const press = (keys: readonly string[]): void => {
    const ends = keys[0] === "C-c";
    setArmed(ends && !armed);
    if (!ends || armed) onAnswer({ kind: "keys", keys });
  };
  return (
    <div class="quick" role="group" aria-label="Press a key in the pane">
      {QUICK_KEYS.map(({ keys, label, says }) => {
        const asks = armed && label === "C-c";
        return (
          <button
            key={label}
            type="button"
            class={`button quick-key${asks ? " armed" : ""}`}
            data-focus={`key-${label}`}
            title={says}
            aria-label={asks ? "Press again to send Control-C" : says}
            disabled={busy}
            onClick={() => press(keys)}
          >
            {asks ? "C-c ?" : label}
          </button>
        );
      })}
    </div>
  );
}
