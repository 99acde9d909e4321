/** The page's keys. */
import { useModal } from "../../../pages/useModal.ts";
import { SHORTCUT_HELP } from "../model/shortcuts.ts";

export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <dialog class="dialog help" ref={useModal()} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keyboard</h2>
      <dl>
        {SHORTCUT_HELP.map(([keys, meaning]) => (
          <div class="help-row" key={keys}>
            <dt>
              {keys.split("  ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button primary">
          Close
        </button>
      </form>
    </dialog>
  );
}
