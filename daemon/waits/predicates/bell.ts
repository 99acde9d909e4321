/**
 * The program rings: a BEL in the output, but not one that ends an OSC or is inside another string. Reads from where
 * the request says, as patterns do. Latches.
 */
import { latched, predicate, switched } from "./predicate.ts";

export const bell = predicate({
  ...switched("bell", "The program rings: a BEL that does not end an OSC.", "the program rings the bell"),
  arm: (_checked, context) => {
    const latch = context.latch();
    context.hear({ bell: (at) => latch.found({ from: at, to: at + 1 }) }, latch);
    return latch;
  },
  ...latched,
});
