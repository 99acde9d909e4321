/** A schema with the sentence that descriptions and help show for it. */
import * as v from "valibot";

export const described = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text));
