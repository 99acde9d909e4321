/** Settings, and the keys. */
import { useEffect, useState } from "preact/hooks";
import type { DeviceEntry } from "../../../../protocol/api/freshell/rpc.ts";
import { Button } from "../../../pages/controls.tsx";
import { Dialog, KeyList } from "../../../pages/dialog.tsx";
import type { DevicePage } from "../devicePage.ts";
import { DEVICE_KEYS } from "../model/deviceKeys.ts";
import type { RemoteLine } from "../model/remoteLine.ts";

const KEY_ROWS = [
  ...DEVICE_KEYS.map(({ key, words }) => [[key], words] as const),
  [["1–9"], "the tab with that number"] as const,
];

export function DeviceDialogs({ page }: { readonly page: DevicePage }) {
  const close = (): void => page.update({ dialog: undefined });
  switch (page.state.dialog) {
    case "settings":
      return (
        <Dialog title="Settings" onClose={close}>
          <Settings page={page} />
        </Dialog>
      );
    case "help":
      return (
        <Dialog title="Keys" onClose={close}>
          <p>Press each with Alt and Shift. All other keys go to the pane.</p>
          <KeyList rows={KEY_ROWS} />
        </Dialog>
      );
    case "activity":
      return (
        <Dialog title="What other devices did" onClose={close}>
          <Activity page={page} />
        </Dialog>
      );
    case undefined:
      return null;
  }
}

function Activity({ page }: { readonly page: DevicePage }) {
  const lines = (page.state.view?.lines ?? []).toReversed();
  if (lines.length === 0) return <p class="quiet">Nothing so far.</p>;
  return (
    <ol class="activity">
      {lines.map((line) => (
        <li key={line.id} class="row">
          <time class="quiet">{new Date(line.atUnixMs).toLocaleTimeString()}</time>
          <RemoteLineText page={page} line={line} />
        </li>
      ))}
    </ol>
  );
}

function Settings({ page }: { readonly page: DevicePage }) {
  const [devices, setDevices] = useState<readonly DeviceEntry[]>([]);
  const { deviceId, deviceLabel } = page.device;
  const allow = page.state.view?.allow ?? [];
  useEffect(() => {
    page.api.devices().then(setDevices, () => undefined);
  }, [page]);
  const others = devices.filter((one) => one.deviceId !== deviceId);
  const known = new Set(others.map((one) => one.deviceId));
  const rows = [
    { id: "*", label: "Every device that is logged in" },
    ...others.map((one) => ({ id: one.deviceId, label: one.deviceLabel })),
    ...allow.filter((id) => id !== "*" && !known.has(id)).map((id) => ({ id, label: id })),
  ];
  const set = (id: string, isAllowed: boolean): void => {
    const next = isAllowed ? [...allow, id] : allow.filter((one) => one !== id);
    void page.perform({ kind: "allow", allow: next });
  };
  return (
    <>
      <p>
        This device: <strong>{deviceLabel}</strong> <code>{deviceId}</code>
      </p>
      <fieldset>
        <legend>Who may change the tabs and panes of this device</legend>
        {rows.map(({ id, label }) => (
          <label key={id} class="check">
            <input
              type="checkbox"
              checked={allow.includes(id)}
              onChange={(event) => set(id, event.currentTarget.checked)}
            />
            <span>
              {label} {id === "*" ? null : <code class="quiet">{id}</code>}
            </span>
          </label>
        ))}
      </fieldset>
      <p class="quiet">Every logged-in device may read them, and type into terminals.</p>
      <Button onPress={() => page.logOut()}>Log this device out</Button>
    </>
  );
}

/** What another device did, and a way to undo it. */
interface RemoteLineTextProps {
  readonly page: DevicePage;
  readonly line: RemoteLine;
}

export function RemoteLineText({ page, line }: RemoteLineTextProps) {
  const { id, who, what, canUndo, note } = line;
  return (
    <>
      <span>
        <strong>{who}</strong> {what}
        {note === undefined ? "" : ` (${note})`}
      </span>
      {canUndo ? <Button onPress={() => page.perform({ kind: "undo", lineId: id })}>Undo</Button> : null}
    </>
  );
}
