/** The tabs, in their order. */
import type { DevicePage } from "../devicePage.ts";
import { leavesIn } from "../../devices/layoutTarget.ts";
import { change, selectTab } from "./deviceActions.ts";
import { RenameField } from "./renameField.tsx";

export function TabStrip({ page }: { readonly page: DevicePage }) {
  const { view, renaming } = page.state;
  const snapshot = view?.layout.snapshot;
  if (snapshot === undefined) return null;
  return (
    <div class="tabs">
      <div class="tab-list" role="tablist" aria-label="Tabs">
        {snapshot.tabs.map(({ id, title }) => {
          const isActive = id === snapshot.activeTabId;
          const count = leavesIn(snapshot, id).length;
          return (
            <div key={id} class={`tab${isActive ? " active" : ""}`} data-tab={id}>
              {renaming?.kind === "tab" && renaming.id === id ? (
                <RenameField
                  title={title}
                  label="Title of the tab"
                  onDone={(given) => {
                    page.update({ renaming: undefined });
                    if (given !== undefined && given !== "" && given !== title) {
                      change(page, "rename-tab", { target: `tab:${id}`, title: given });
                    }
                  }}
                />
              ) : (
                <button
                  type="button"
                  role="tab"
                  class="tab-title"
                  aria-selected={isActive}
                  aria-controls={`space-${id}`}
                  title={`${title} (double-click renames)`}
                  onClick={() => selectTab(page, id)}
                  onDblClick={() => page.update({ renaming: { kind: "tab", id } })}
                >
                  {title}
                  {count > 1 ? <span class="quiet"> {count}</span> : null}
                </button>
              )}
              <button
                type="button"
                class="tab-close"
                aria-label={`Close the tab ${title}`}
                onClick={() => change(page, "kill-tab", { target: `tab:${id}` })}
              >
                ✕
              </button>
            </div>
          );
        })}
      </div>
      <button
        type="button"
        class="button plain"
        aria-label="New tab"
        title="New tab (Alt+Shift+T: with a terminal)"
        onClick={() => change(page, "new-tab", { picker: true })}
      >
        +
      </button>
    </div>
  );
}
