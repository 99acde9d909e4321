/**
 * Every route that a test serves in its own process is checked: a response is what its row says, and nothing is thrown
 * that the row does not name. What differs fails the test that runs.
 */
import { subscribe } from "node:diagnostics_channel";
import * as v from "valibot";
import type { Route } from "../../../adapters/kit/guard/routes.ts";
import { toAppError } from "../../../protocol/errors.ts";

/** A bug, a client that has left, a daemon that stops. */
const UNNAMED: ReadonlySet<string> = new Set(["INTERNAL_ERROR", "CANCELLED", "SHUTTING_DOWN"]);
const differences: string[] = [];

type Served = { -readonly [Member in keyof Route]: Route[Member] };

/** Why this is not what the row says. */
function faultOf({ response }: Route, status: number, body: unknown): string | undefined {
  const shape = response[status];
  if (shape === undefined) return `no response ${status}`;
  if (typeof shape === "string") return `${status} is ${shape}, not JSON`;
  const { success, issues } = v.safeParse(shape, JSON.parse(JSON.stringify(body)));
  if (success) return undefined;
  return issues.map((issue) => `${v.getDotPath(issue) ?? ""}: ${issue.message}`).join("; ");
}

function check(served: Served): void {
  const { handle } = served;
  const note = (fault: string | undefined): void => {
    if (fault !== undefined) differences.push(`${served.method} ${served.path}: ${fault}`);
  };
  served.handle = async (c) => {
    const { json } = c;
    let isJson = false;
    const checked = (body: unknown, init?: unknown, ...more: unknown[]): Response => {
      isJson = true;
      note(faultOf(served, typeof init === "number" ? init : 200, body));
      return (json as (...all: unknown[]) => Response)(body, init, ...more);
    };
    c.json = checked as typeof c.json;
    try {
      const response = await handle(c);
      const shape = served.response[response.status];
      if (isJson || response.headers.has("x-hono-already-sent") || shape === "none") return response;
      // What stands for an upgrade's 101, which the library has sent.
      if (served.response[101] === "none" && c.env.outgoing === undefined && response.status === 200) return response;
      const type = response.headers.get("content-type") ?? "";
      if (shape === "*/*") return response;
      if (!type.startsWith(typeof shape === "string" ? shape : "application/json") || shape === undefined) {
        note(`no response ${response.status} of ${type.split(";", 1)[0]}`);
      }
      return response;
    } catch (thrown) {
      const error = toAppError(thrown);
      const name = served.errorName?.(error) ?? error.code;
      if (!UNNAMED.has(error.code) && !served.errors.includes(name)) note(`no error ${name}: ${error.message}`);
      throw thrown;
    } finally {
      c.json = json;
    }
  };
}

/** What has been found so far; the test that takes it is the one that expects it. */
export const takeDifferences = (): readonly string[] => known[CHECKS]?.splice(0) ?? [];

const CHECKS = Symbol.for("tmuxwire.route.checks");
const known = globalThis as { [CHECKS]?: string[] };
// A process runs many files, each with these modules anew or not.
if (known[CHECKS] === undefined) {
  known[CHECKS] = differences;
  subscribe("tmuxwire.route", (served) => check(served as Served));
}

/** Fails the test that has just run if a response or an error was not as its row says. */
export function requireNoDifferences(): void {
  const found = takeDifferences();
  if (found.length > 0) throw new Error(`not as the route's row says: ${found.join("\n")}`);
}
