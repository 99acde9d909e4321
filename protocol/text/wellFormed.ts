/** Text without lone surrogates, which no encoding can represent. */
import * as v from "valibot";

const LONE_SURROGATE = /\p{Surrogate}/u;

export const isWellFormed = (text: string): boolean => !LONE_SURROGATE.test(text);

export const wellFormedText = v.pipe(
  v.string(),
  v.check(isWellFormed, "text must be well-formed Unicode, without lone surrogates"),
);
