/** Searching in a terminal: Enter for the next match above, Shift+Enter for the next below. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Found } from "../model/terminalFind.ts";
import { Button } from "../../../pages/controls.tsx";

interface FindBarProps {
  readonly onFind: (text: string, step: 1 | -1) => Found;
  readonly onClose: () => void;
}

export function FindBar({ onFind, onClose }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found | undefined>(undefined);
  // A layout effect: the next key must go to the field.
  useLayoutEffect(() => field.current?.focus(), []);
  const find = (wanted: string, step: 1 | -1): void => setFound(wanted === "" ? undefined : onFind(wanted, step));
  return (
    <form
      class="find-bar"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        find(text, -1);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
        else if (event.key === "Enter" && event.shiftKey) {
          event.preventDefault();
          find(text, 1);
        } else return;
        event.stopPropagation();
      }}
    >
      <input
        ref={field}
        type="search"
        aria-label="Search in this terminal"
        placeholder="Search"
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          find(value, -1);
        }}
      />
      <span class="quiet" role="status">
        {found === undefined ? "" : found.count === 0 ? "none" : `${found.index}/${found.count}`}
      </span>
      <Button kind="plain" label="Previous">
        ↑
      </Button>
      <Button kind="plain" label="Next" onPress={() => find(text, 1)}>
        ↓
      </Button>
      <Button kind="plain" label="Close the search" onPress={onClose}>
        ✕
      </Button>
    </form>
  );
}
