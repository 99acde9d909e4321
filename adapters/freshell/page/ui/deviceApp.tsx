/** The page: tabs on top, the panes of the tab that is shown, and what happened. */
import type { DevicePage } from "../devicePage.ts";
import type { LinkState } from "../../devices/freshellLink.ts";
import { Button, Tool } from "../../../pages/controls.tsx";
import { TokenForm } from "../../../pages/tokenForm.tsx";
import { useMedia } from "../../../pages/useMedia.ts";
import { DeviceDialogs, RemoteLineText } from "./deviceDialogs.tsx";
import { change } from "./deviceActions.ts";
import { TabSpace } from "./tabSpace.tsx";
import { TabStrip } from "./tabStrip.tsx";

const NARROW = "(max-width: 640px)";

export function DeviceApp({ page }: { readonly page: DevicePage }) {
  const { link, view, role, shown, fault } = page.state;
  const isNarrow = useMedia(NARROW);
  if (fault !== undefined) return <p class="loading bad">{fault}</p>;
  if (link.kind === "loggedOut") {
    // Once: afterwards the device has its own.
    const label = "The server's token (AUTH_TOKEN)";
    return <TokenForm title="Freshell" label={label} button="Log in" onToken={(token) => page.giveToken(token)} />;
  }
  const snapshot = view?.layout.snapshot;
  return (
    <div class="device" data-role={role} data-link={link.kind} data-revision={view?.layout.workspaceRevision}>
      <header class="top">
        <TabStrip page={page} />
        <div class="top-right">
          <Link link={link} onRetry={() => page.retryNow()} />
          {role === "mirror" ? (
            <span class="badge" title="Another page of this browser is the device; this one shows the same">
              mirror
            </span>
          ) : null}
          <Tool label="What other devices did" sign="≡" onPress={() => page.update({ dialog: "activity" })} />
          <Tool label="Keys" sign="?" shortcut="/" onPress={() => page.update({ dialog: "help" })} />
          <Tool label="Settings" sign="⚙" shortcut="," onPress={() => page.update({ dialog: "settings" })} />
        </div>
      </header>
      {role === "superseded" ? (
        <p class="banner" role="alert">
          Another connection is this device now. <Button onPress={() => page.lead()}>Take it back</Button>
        </p>
      ) : null}
      <main class="spaces">
        {snapshot === undefined ? <p class="loading">Waiting for the device…</p> : null}
        {snapshot?.tabs.length === 0 ? (
          <div class="empty">
            <p>No tabs.</p>
            <Button kind="primary" onPress={() => change(page, "new-tab", { mode: "shell" })}>
              Open a terminal
            </Button>
          </div>
        ) : null}
        {shown.toSorted().map((tabId) => (
          <TabSpace
            key={tabId}
            page={page}
            tabId={tabId}
            isActive={tabId === snapshot?.activeTabId}
            isNarrow={isNarrow}
          />
        ))}
      </main>
      <RemoteLines page={page} />
      <DeviceDialogs page={page} />
    </div>
  );
}

function Link({ link, onRetry }: { readonly link: LinkState; readonly onRetry: () => void }) {
  const words = link.kind === "live" ? "connected" : link.kind === "lost" ? link.message : "connecting…";
  return (
    <span class="link" role="status">
      <span class={`dot ${link.kind === "live" ? "good" : "bad"}`} title={words} />
      {link.kind === "live" ? <span class="heard">connected</span> : <span class="link-words">{words}</span>}
      {link.kind === "lost" ? <Button onPress={onRetry}>Try now</Button> : null}
    </span>
  );
}

const SHOWN_LINES = 4;

/** What other devices did, a line each, and the page's own notes and problems. */
function RemoteLines({ page }: { readonly page: DevicePage }) {
  const { view, problem, readLines, readNotes } = page.state;
  const lines = (view?.lines ?? []).filter(({ id }) => !readLines.has(id)).slice(-SHOWN_LINES);
  const notes = (view?.notes ?? []).filter((note) => !readNotes.has(note));
  return (
    <div class="lines" role="log" aria-label="What happened">
      {notes.map((note) => (
        <p key={note} class="line">
          <span>{note}</span>
          <Tool label="Dismiss" sign="✕" onPress={() => page.update({ readNotes: new Set([...readNotes, note]) })} />
        </p>
      ))}
      {lines.map((line) => (
        <p key={line.id} class="line" data-line={line.id}>
          <RemoteLineText page={page} line={line} />
          <Tool label="Dismiss" sign="✕" onPress={() => page.read(line.id)} />
        </p>
      ))}
      {problem === undefined ? null : (
        <p class="line bad" role="alert">
          <span>{problem}</span>
          <Tool label="Dismiss" sign="✕" onPress={() => page.update({ problem: undefined })} />
        </p>
      )}
    </div>
  );
}
