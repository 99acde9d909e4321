import { describe, expect, test } from "vitest";
import { sessionsByUse } from "../../../../../daemon/servers/owned/hubStartup.ts";
import type { SessionId } from "../../../../../protocol/ids.ts";

describe("sessions in the order of their use", () => {
  const row = (session: string, usedSec: number, name = "") => ({
    session: session as SessionId,
    usedSec,
    createdSec: 0,
    attached: 0,
    name,
  });

  test("the last one last, of one second the youngest; hubs have no place", () => {
    const rows = [row("$9", 30), row("$10", 20), row("$2", 20), row("$7", 99, "__tmuxwire-abc")];
    expect(sessionsByUse(rows)).toEqual(["$2", "$10", "$9"]);
    expect(sessionsByUse([])).toEqual([]);
  });
});
