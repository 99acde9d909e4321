/** Templates of prompts, with what is known of the agent. */
import { expect, test } from "vitest";
import { filled, inserted } from "../../../../../../adapters/dashboard/page/model/templates.ts";
import { card, running, shownCard } from "../../../../../support/daemon/dashboardCards.ts";

test("places are filled with what is known of the agent, everything else stays", () => {
  const agent = shownCard(card(1, { running: running({ cwd: "/srv/$& shop", branch: "main", name: "api" }) }));
  expect(filled("In {cwd} on {branch}: {name} {name}; {other} {{cwd}} ${name}", agent)).toBe(
    "In /srv/$& shop on main: api api; {other} {/srv/$& shop} $api",
  );
  const bare = shownCard(card(1, { running: running({ cwd: null, branch: null }) }));
  expect(filled("{cwd} {branch} {name}", bare)).toBe("/srv/project-1 {branch} api");
  expect(filled("{name}", shownCard(card(1, { running: null })))).toBe("{name}");
});

test("one is put below what is written", () => {
  expect([inserted("", "a\nb"), inserted(" \n", "a"), inserted("first", "a")]).toEqual(["a\nb", "a", "first\na"]);
});
