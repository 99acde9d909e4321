/** Above the list: what is shown of it, in which groups, and a new agent. */
import { Button } from "../../../pages/controls.tsx";
import type { Grouping } from "../model/order.ts";
import type { PageState } from "../model/pageState.ts";
import type { Page } from "../page.ts";
import { THIS_MACHINE } from "../words/stateWords.ts";

export const FILTER_ID = "filter";
const ALL = "all";

export function ListBar({ state, page }: { readonly state: PageState; readonly page: Page }) {
  const { listing, hosts } = state;
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
        title="Words of names, tasks, places and questions, and of what is on the screens"
        onInput={(event) => page.filter(event.currentTarget.value)}
      />
      <select
        class="text"
        aria-label="Group by"
        value={listing.grouping}
        onChange={(event) => page.update({ listing: { ...listing, grouping: event.currentTarget.value as Grouping } })}
      >
        <option value="need">By state</option>
        <option value="project">By project</option>
        {hosts.size === 0 ? null : <option value="host">By host</option>}
      </select>
      {hosts.size === 0 ? null : (
        <select
          class="text"
          aria-label="Show hosts"
          value={listing.host === undefined ? ALL : `@${listing.host}`}
          onChange={({ currentTarget: { value } }) =>
            page.update({ listing: { ...listing, host: value === ALL ? undefined : value.slice(1) } })
          }
        >
          <option value={ALL}>All hosts</option>
          <option value="@">{THIS_MACHINE}</option>
          {[...hosts.keys()].map((name) => (
            <option key={name} value={`@${name}`}>
              {name}
            </option>
          ))}
        </select>
      )}
      <Button title="Start an agent (s)" onPress={() => page.update({ startOpen: true })}>
        Start…
      </Button>
    </div>
  );
}
