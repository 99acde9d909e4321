/** Routes of another contract behind a listener that is there already: its guard and token, their own rules and errors. */
import type { Hono } from "hono";
import type { VisibleError } from "./errors.ts";
import type { GuardEnv, RouteRule } from "./guard.ts";

export interface Mount {
  /** Every path of the contract begins so, and no other. */
  readonly prefix: `/${string}/`;
  /** For the guard: by the path as it stands in the request line. */
  readonly rule: (path: string) => RouteRule | undefined;
  readonly app: Hono<GuardEnv>;
  /** The contract's shape of an error. */
  readonly errorBody: (visible: VisibleError) => object;
}
