/** The daemon with everything on, ended in every way and started again. */
import { describe, expect, test } from "vitest";
import { restartField } from "../support/daemon/restartField.ts";

describe.skipIf(process.platform !== "linux")("with /proc", () => {
  test("ended and started again, nobody holds what was its own", { timeout: 180_000 }, async () => {
    await using field = await restartField();
    expect(await field.leftovers()).toEqual([]);
    for (const signal of ["SIGKILL", "SIGTERM", "SIGKILL"] as const) {
      const daemon = await field.start();
      await field.watch(daemon);
      expect(await field.leftovers(daemon.process.pid)).toEqual([]);
      await field.end(daemon.process, signal);
      expect(await field.leftovers()).toEqual([]);
    }
  });
});
