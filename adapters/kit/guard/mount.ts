/** Routes of another contract on an existing listener: the listener's guard and token, their own rules and errors. */
import type { VisibleError } from "./httpErrors.ts";
import type { Route } from "./routes.ts";

export interface Mount {
  /** Every path of the contract begins with this, and no other does. */
  readonly prefix: `/${string}/`;
  readonly routes: readonly Route[];
  /** The contract's shape of an error. */
  readonly errorBody: (visible: VisibleError) => object;
}
