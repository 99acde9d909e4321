/** The one way from a value of outside to what a schema says it is. */
import * as v from "valibot";
import { AppError } from "../errors.ts";

/** The error for the first fault; `path` is that of the field, undefined for the value itself. */
export type Refuse = (issue: v.BaseIssue<unknown>, path: string | undefined) => Error;

/** Values that a schema would give back as they are, told without it. */
const recognizers = new WeakMap<v.GenericSchema, (value: unknown) => boolean>();

/** @param isPlain true only for what the schema would give back as it is: `parse` then asks no more */
export function recognized<Schema extends v.GenericSchema>(
  schema: Schema,
  isPlain: (value: unknown) => boolean,
): Schema {
  recognizers.set(schema, isPlain);
  return schema;
}

/** @throws what `refuse` makes of the first fault; default AppError INVALID_ARGUMENT that names the field */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  refuse: Refuse = invalidArgument,
): v.InferOutput<Schema> {
  if (recognizers.get(schema)?.(value) === true) return value;
  // To the library an array is an object without members.
  const parsed = v.safeParse(schema, Array.isArray(value) ? undefined : value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw refuse(issue, v.getDotPath(issue) ?? undefined);
}

/** The field and what is wrong with it. */
export const faultText = (message: string, path: string | undefined): string =>
  path === undefined ? message : `${path}: ${message}`;

const invalidArgument: Refuse = ({ message }, path) => new AppError("INVALID_ARGUMENT", faultText(message, path));
