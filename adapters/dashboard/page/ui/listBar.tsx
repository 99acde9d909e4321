/** Above the list: what is shown of it, in which groups, and a new agent. */
import { Button } from "../../../pages/controls.tsx";
import type { Grouping } from "../model/order.ts";
import type { PageState } from "../model/pageState.ts";
import type { Page } from "../page.ts";

export const FILTER_ID = "filter";

export function ListBar({ state, page }: { readonly state: PageState; readonly page: Page }) {
  const { listing, server } = state;
  return (
    <div class="list-bar" role="search">
      <input
        id={FILTER_ID}
        class="text"
        type="search"
        aria-label="Filter the agents"
        placeholder="Filter (f)"
        value={listing.filter}
        spellcheck={false}
        onInput={(event) => page.update({ listing: { ...listing, filter: event.currentTarget.value } })}
      />
      <select
        class="text"
        aria-label="Group by"
        value={listing.grouping}
        onChange={(event) => page.update({ listing: { ...listing, grouping: event.currentTarget.value as Grouping } })}
      >
        <option value="need">By state</option>
        <option value="project">By project</option>
      </select>
      {server === undefined ? null : (
        <Button title="Start an agent (s)" onPress={() => page.update({ startOpen: true })}>
          Start…
        </Button>
      )}
    </div>
  );
}
