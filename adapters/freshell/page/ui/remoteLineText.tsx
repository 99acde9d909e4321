/** What another device did, and a way to undo it. */
import type { DevicePage } from "../devicePage.ts";
import type { RemoteLine } from "../model/remoteLine.ts";
import { Button } from "../../../pages/controls.tsx";

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
