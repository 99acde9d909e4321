/** Each window is in the hub once, whoever was first to see it: a second place would outlive its session (docs/tmuxFacts.md 16). */
import { expect, test } from "vitest";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

const SESSIONS = 60;

test("a window that is listed before its hook has run is in the hub once", async () => {
  await using owned = await ownedFixture();
  const { server, socket } = owned;
  // Two at a time: the listing that follows the first comes between the second's creation and its hook.
  await Promise.all(
    Array.from({ length: SESSIONS }, (_, at) => server.createSession({ name: `s${at}`, command: ["cat"] })),
  );
  const places = socket.tmux("list-windows", "-a", "-F", "#{session_name} #{window_id}").trim().split("\n");
  const inHub = places.filter((place) => place.startsWith("__tmuxwire-"));
  // The event pane's window too.
  expect(inHub).toHaveLength(SESSIONS + 1);
  expect(new Set(inHub).size).toBe(SESSIONS + 1);
});
