/**
 * A web page in a pane: sandboxed, so that it can neither leave its frame nor open dialogs as this page. Our own origin is not
 * shown in it: such a page could remove the sandbox.
 */
import { useEffect, useState } from "preact/hooks";
import type { DevicePage } from "../devicePage.ts";
import { Tool } from "./buttons.tsx";
import { change } from "./deviceActions.ts";
import { withScheme } from "./pickerPane.tsx";

interface BrowserPaneProps {
  readonly page: DevicePage;
  readonly paneId: string;
  readonly url: string;
}

const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-popups allow-downloads allow-modals";

export function BrowserPane({ page, paneId, url }: BrowserPaneProps) {
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
