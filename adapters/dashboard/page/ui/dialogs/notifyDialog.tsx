/** Notifications for this browser: begun, chosen, tested and ended. */
import { useState } from "preact/hooks";
import { Button } from "../../../../pages/controls.tsx";
import { Dialog } from "../../../../pages/dialog.tsx";
import type { Notifier } from "../notifier.ts";

interface NotifyDialogProps {
  readonly notifier: Notifier;
  readonly onClose: () => void;
}

export function NotifyDialog({ notifier, onClose }: NotifyDialogProps) {
  const { channel, state, words } = notifier;
  const [choice, setChoice] = useState({ text: channel?.text ?? false, answers: channel?.answers ?? false });
  const [isBusy, setBusy] = useState(false);
  const during = async (work: Promise<void>): Promise<void> => {
    setBusy(true);
    await work;
    setBusy(false);
  };
  const choose = (text: boolean, answers: boolean): void => {
    setChoice({ text, answers });
    if (channel !== undefined) void during(notifier.start({ text, answers }));
  };
  return (
    <Dialog title="Notifications" onClose={onClose}>
      <div class="form notify-form">
        <p>{explanation(notifier)}</p>
        <label class="check">
          <input
            type="checkbox"
            checked={choice.text}
            disabled={isBusy}
            onChange={({ currentTarget: { checked } }) => choose(checked, checked && choice.answers)}
          />
          Show what agents ask and say, not only their names
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={choice.answers}
            disabled={isBusy}
            onChange={({ currentTarget: { checked } }) => choose(checked || choice.text, checked)}
          />
          Answer from the notification, by buttons
        </label>
        <p class="notify-words" role="status">
          {words}
        </p>
        {state === "on" ? (
          <p class="notify-buttons">
            <Button disabled={isBusy} onPress={() => during(notifier.stop())}>
              Stop notifying
            </Button>
            {channel === undefined ? null : (
              <Button disabled={isBusy} onPress={() => during(notifier.test())}>
                Send a test
              </Button>
            )}
          </p>
        ) : (
          <Button kind="primary" disabled={isBusy} onPress={() => during(notifier.start(choice))}>
            Notify this browser
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function explanation({ channel, state }: Notifier): string {
  if (state !== "on")
    return "This browser tells you when an agent asks, is done or has ended, also when this page is closed.";
  return channel === undefined
    ? "This browser tells you that an agent asks as long as this page is open."
    : `This browser tells you when an agent asks, is done or has ended, also when this page is closed. Its name is ${channel.name}: \`tmuxwire notify\` lists it.`;
}
