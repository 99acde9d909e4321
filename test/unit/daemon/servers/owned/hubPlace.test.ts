import { describe, expect, test } from "vitest";
import { lastUsed } from "../../../../../daemon/servers/owned/hubSweep.ts";
import { sessionsByUse } from "../../../../../daemon/servers/owned/hubPlace.ts";
import type { SessionId } from "../../../../../protocol/ids.ts";

describe("sessions in the order of their use", () => {
  test("the last one last, of one second the youngest; hubs and what is no row have no place", () => {
    const rows = ["30 $9 0", "20 $10 0", "20 $2 0", "99 $7 1", "", "x", "40 nobody 0"];
    expect(sessionsByUse(Buffer.from(rows.map((row) => `${row}\n`).join("")))).toEqual(["$2", "$10", "$9"]);
  });

  test("the one used last", () => {
    const row = (session: string, usedSec: number) => ({
      session: session as SessionId,
      usedSec,
      createdSec: 0,
      attached: 0,
      name: "",
    });
    expect(lastUsed([])).toBeUndefined();
    expect(lastUsed([row("$9", 5), row("$10", 5), row("$11", 4)])).toBe("$10");
  });
});
