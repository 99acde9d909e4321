/** A tab's panes and the dividers between them. Each pane has a box of its own, so that it stays when the tree changes. */
import { useRef, useState } from "preact/hooks";
import { leavesIn } from "../../devices/layoutTarget.ts";
import type { DevicePage } from "../devicePage.ts";
import { MIN_PERCENT } from "../model/ownChanges.ts";
import { type Box, boxesOf, type DividerBox } from "../model/paneBoxes.ts";
import { PaneFrame } from "./paneFrame.tsx";

interface TabSpaceProps {
  readonly page: DevicePage;
  readonly tabId: string;
  readonly isActive: boolean;
  /** There is room for only one pane. */
  readonly isNarrow: boolean;
}

const KEY_STEP_PERCENT = 2;

export function TabSpace({ page, tabId, isActive, isNarrow }: TabSpaceProps) {
  const { view, zoomed } = page.state;
  const place = useRef<HTMLDivElement>(null);
  const order = useRef<readonly string[]>([]);
  const [drag, setDrag] = useState<{ readonly splitId: string; readonly percent: number } | undefined>(undefined);
  const snapshot = view?.layout.snapshot;
  const root = snapshot?.layouts[tabId];
  if (snapshot === undefined || root === undefined) return null;
  const activePane = snapshot.activePane[tabId];
  const leaves = leavesIn(snapshot, tabId);
  const alone = zoomed.get(tabId) ?? (isNarrow ? activePane : undefined);
  const { panes, dividers } = boxesOf(root);
  // A fixed order: an iframe that is moved in the document reloads.
  const known = order.current.filter((id) => leaves.some((leaf) => leaf.id === id));
  order.current = [...known, ...leaves.map(({ id }) => id).filter((id) => !known.includes(id))];
  const settle = (splitId: string, percent: number): void => {
    setDrag(undefined);
    void page.perform({ kind: "split", splitId, percent });
  };
  return (
    <div
      ref={place}
      id={`space-${tabId}`}
      role="tabpanel"
      class="space"
      hidden={!isActive}
      data-space={tabId}
      data-alone={alone !== undefined}
    >
      {order.current.map((id) => {
        const [leaf, box] = [leaves.find((one) => one.id === id), panes.find(({ paneId }) => paneId === id)];
        if (leaf === undefined || box === undefined) return null;
        const isHidden = alone !== undefined && alone !== leaf.id;
        return (
          <div
            key={leaf.id}
            class="pane-box"
            data-pane={leaf.id}
            hidden={isHidden}
            style={alone === undefined ? cssOf(box) : FULL}
          >
            <PaneFrame
              page={page}
              leaf={leaf}
              isActive={isActive && leaf.id === activePane}
              index={panes.findIndex(({ paneId }) => paneId === leaf.id)}
              count={panes.length}
              isZoomed={zoomed.get(tabId) === leaf.id}
              isNarrow={isNarrow}
            />
          </div>
        );
      })}
      {alone === undefined
        ? dividers.map((divider) => (
            <Divider
              key={divider.splitId}
              divider={divider}
              percent={drag?.splitId === divider.splitId ? drag.percent : divider.percent}
              placeOf={() => place.current}
              onDrag={(percent) => setDrag({ splitId: divider.splitId, percent })}
              onSettle={(percent) => settle(divider.splitId, percent)}
            />
          ))
        : null}
    </div>
  );
}

const FULL = { left: "0", top: "0", width: "100%", height: "100%" };
const cssOf = ({ left, top, width, height }: Box) => ({
  left: `${left}%`,
  top: `${top}%`,
  width: `${width}%`,
  height: `${height}%`,
});

interface DividerProps {
  readonly divider: DividerBox;
  /** While dragging. */
  readonly percent: number;
  readonly placeOf: () => HTMLElement | null;
  readonly onDrag: (percent: number) => void;
  readonly onSettle: (percent: number) => void;
}

function Divider({ divider, percent, placeOf, onDrag, onSettle }: DividerProps) {
  const { direction, within } = divider;
  const isAcross = direction === "horizontal";
  const percentAt = (event: PointerEvent): number => {
    const area = placeOf()?.getBoundingClientRect();
    if (area === undefined) return percent;
    const at = isAcross
      ? ((event.clientX - area.left) / area.width) * 100
      : ((event.clientY - area.top) / area.height) * 100;
    const [begin, length] = isAcross ? [within.left, within.width] : [within.top, within.height];
    return bounded(((at - begin) / length) * 100);
  };
  const line = isAcross
    ? { left: `${within.left + (within.width * percent) / 100}%`, top: `${within.top}%`, height: `${within.height}%` }
    : { top: `${within.top + (within.height * percent) / 100}%`, left: `${within.left}%`, width: `${within.width}%` };
  return (
    <div
      class={`divider ${direction}`}
      style={line}
      role="separator"
      tabIndex={0}
      aria-label={isAcross ? "Width of the panes" : "Height of the panes"}
      aria-orientation={isAcross ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(percent)}
      aria-valuemin={MIN_PERCENT}
      aria-valuemax={100 - MIN_PERCENT}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        event.currentTarget.focus();
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onDrag(percentAt(event));
      }}
      onPointerUp={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onSettle(percentAt(event));
      }}
      onKeyDown={(event) => {
        const by = stepOf(event.key, isAcross);
        if (by === undefined) return;
        event.preventDefault();
        onSettle(bounded(percent + by));
      }}
    />
  );
}

const bounded = (percent: number): number => Math.min(100 - MIN_PERCENT, Math.max(MIN_PERCENT, percent));

function stepOf(key: string, isAcross: boolean): number | undefined {
  if (key === (isAcross ? "ArrowLeft" : "ArrowUp")) return -KEY_STEP_PERCENT;
  return key === (isAcross ? "ArrowRight" : "ArrowDown") ? KEY_STEP_PERCENT : undefined;
}
