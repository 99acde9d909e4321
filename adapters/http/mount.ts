/** Routes of another contract behind a listener that is there already: its guard and token, their own rules and errors. */
import type { VisibleError } from "./httpErrors.ts";
import type { Routes } from "./routes.ts";

export interface Mount {
  /** Every path of the contract begins so, and no other. */
  readonly prefix: `/${string}/`;
  readonly routes: Routes;
  /** The contract's shape of an error. */
  readonly errorBody: (visible: VisibleError) => object;
}
