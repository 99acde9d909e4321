/** Another contract's routes on an existing listener: with the listener's guard and token, but their own rules and errors. */
import type { VisibleError } from "./httpErrors.ts";
import type { Route } from "./routes.ts";

export interface Mount {
  /** Every path of the contract begins with this, and no other path does. */
  readonly prefix: `/${string}/`;
  readonly routes: readonly Route[];
  /** Makes an error body in the contract's shape. */
  readonly errorBody: (visible: VisibleError) => object;
}
