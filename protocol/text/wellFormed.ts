/** Text without half of a surrogate pair, which no encoding can carry. */
import * as v from "valibot";

const LONE_SURROGATE = /\p{Surrogate}/u;

export const wellFormedText = v.pipe(
  v.string(),
  v.check((value) => !LONE_SURROGATE.test(value), "text must be well-formed Unicode: it has half of a surrogate pair"),
);
