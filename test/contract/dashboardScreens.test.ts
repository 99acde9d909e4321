/** `GET /api/screens`: which agents have a text on their screens (docs/contracts/dashboard.md §5). */
import { describe, expect, test } from "vitest";
import {
  MAX_FOUND_ROW_CHARS,
  MAX_SCREEN_SEARCHES,
  SCREENS_CAPTURED_AT_ONCE,
} from "../../adapters/agents/running/screenSearch.ts";
import { AppError } from "../../protocol/errors.ts";
import { deferred } from "../support/clock/deferred.ts";
import { eventually } from "../support/clock/eventually.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";

eachHasScene();

const search = (text: string) => scene.dashboard.call("GET", `/api/screens?text=${encodeURIComponent(text)}`);

/** Another agent with a pane of its own, which shows these lines. */
async function agentShowing(number: number, ...lines: readonly string[]): Promise<number> {
  const { activePane } = await scene.server.createSession({ name: `agent-${number}` });
  const session_uuid = `0b5d7f4e-8a1c-4c53-9f0a-${String(number).padStart(12, "0")}`;
  const names = { session_uuid, project_path: "/work/project", tmux_pane_id: activePane };
  const { json } = await scene.dashboard.call("POST", "/api/sessions", names);
  for (const line of lines)
    await scene.server.input(activePane!, [{ kind: "text", bytes: new TextEncoder().encode(line) }]);
  return Number(json["agent_id"]);
}

describe("a search over screens", () => {
  test("finds literal text in either case, and gives the lowest row", async () => {
    const first = await agentShowing(1, "The price was 5 (a.b)", "  the PRICE is 6 <b>  ");
    const second = await agentShowing(2, "nothing", "axb");
    await scene.register({ pane: undefined });
    expect((await search(" price ")).json).toEqual({
      found: [{ agent_id: first, row: "the PRICE is 6 <b>" }],
      elsewhere: [],
      unread: 0,
      unreachable: [],
    });
    expect((await search("a.b")).json["found"]).toEqual([{ agent_id: first, row: "The price was 5 (a.b)" }]);
    expect((await search("axb")).json["found"]).toEqual([{ agent_id: second, row: "axb" }]);
    expect((await search("absent")).json).toEqual({ found: [], elsewhere: [], unread: 0, unreachable: [] });
  });

  test("gives of a long row the part that has it", async () => {
    await agentShowing(1, `${"🌊".repeat(300)}needle${"x".repeat(300)}`);
    const { json } = await search("needle");
    const [{ row }] = json["found"] as [{ readonly row: string }];
    expect(row).toMatch(/^…(?:🌊)+needlex+…$/u);
    expect(row.length).toBeLessThanOrEqual(MAX_FOUND_ROW_CHARS + 2);
  });

  test.each(["", " a ", "x".repeat(257)])("refuses %j", async (text) => {
    const { status, json } = await search(text);
    expect([status, json]).toMatchObject([
      400,
      { error_type: "invalid_argument", message: "text is what to look for on the screens: 2 to 256 characters" },
    ]);
  });

  test("counts what could not be read, asks for some at a time, and refuses more searches than its limit", async () => {
    for (let number = 1; number <= SCREENS_CAPTURED_AT_ONCE + 2; number += 1) await agentShowing(number, "here");
    const capture = scene.server.capture.bind(scene.server);
    let [underWay, most, count] = [0, 0, 0];
    const { promise: held, resolve: goOn } = deferred();
    scene.server.capture = async (...request) => {
      underWay += 1;
      count += 1;
      most = Math.max(most, underWay);
      const isFirst = count === 1;
      await held;
      underWay -= 1;
      if (isFirst) throw new AppError("NOT_FOUND", "no such pane");
      return capture(...request);
    };
    const searches = [search("here")];
    await eventually(() => count === SCREENS_CAPTURED_AT_ONCE);
    expect(most).toBe(SCREENS_CAPTURED_AT_ONCE);
    for (let more = 1; more < MAX_SCREEN_SEARCHES; more += 1) searches.push(search("here"));
    await eventually(() => count === SCREENS_CAPTURED_AT_ONCE * MAX_SCREEN_SEARCHES);
    const refused = await search("here");
    expect([refused.status, refused.json["error_type"]]).toEqual([429, "resource_limit"]);
    goOn();
    const found = await Promise.all(searches);
    const counts = found.map(({ json }) => [(json["found"] as readonly unknown[]).length, json["unread"]]);
    expect(counts).toEqual([
      [SCREENS_CAPTURED_AT_ONCE + 1, 1],
      ...Array.from({ length: MAX_SCREEN_SEARCHES - 1 }, () => [SCREENS_CAPTURED_AT_ONCE + 2, 0]),
    ]);
    expect((await search("here")).status).toBe(200);
  });
});
