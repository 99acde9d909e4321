/** Schemas with a description for OpenAPI and help, and schemas that several contracts use. */
import * as v from "valibot";

export const described = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text));

/**
 * The name of something that the daemon has: a server, an agent, a message. Where it is on another machine, the name ends in
 * `@HOST`.
 */
export const named = <const Schema extends v.GenericSchema<string>>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text), v.metadata({ isName: true }));

/** A member that may be absent. */
export const optional = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.optional(described(schema, text));

/** A member of a response that may have no value. */
export const orNull = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  described(v.nullable(schema), text);

/** An integer within bounds. */
export const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** An integer from 0. */
export const count = (text: string) => described(v.pipe(v.number(), v.integer(), v.minValue(0)), text);

/** Text of 1 to `maxChars` characters. */
export const filled = (maxChars: number) => v.pipe(v.string(), v.nonEmpty(), v.maxLength(maxChars));
