/**
 * Set up for the project `host`: the native API's tests run once more, with a second daemon between them and the one that has
 * the servers (`nativeFixture`). The tests know nothing of it: every name leads to the other machine, and no name says so.
 */
import { vi } from "vitest";

process.env["THROUGH_HOST"] = "1";
vi.mock("../../../adapters/remote/hostNames.ts", async (original) => ({
  ...(await original<object>()),
  nameOn: (_host: string, name: string) => name,
  splitName: (name: string) => ({ name, host: "far" }),
}));
