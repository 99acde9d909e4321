/** The one way from an outside value to a schema's type. */
import * as v from "valibot";
import { AppError } from "../errors.ts";

/** Makes the error for the first fault; `path` is the field's, undefined for the value itself. */
export type Refuse = (issue: v.BaseIssue<unknown>, path: string | undefined) => Error;

/** Recognise values that a schema would return unchanged, without running it. */
const recognizers = new WeakMap<v.GenericSchema, (value: unknown) => boolean>();

/** @param isPlain true only for what the schema would return unchanged: `parse` then skips the schema */
export function recognized<Schema extends v.GenericSchema>(
  schema: Schema,
  isPlain: (value: unknown) => boolean,
): Schema {
  recognizers.set(schema, isPlain);
  return schema;
}

/** @throws what `refuse` returns for the first fault; default AppError INVALID_ARGUMENT that names the field */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  refuse: Refuse = invalidArgument,
): v.InferOutput<Schema> {
  if (recognizers.get(schema)?.(value) === true) return value;
  // The library takes an array for an object without members.
  const parsed = v.safeParse(schema, Array.isArray(value) ? undefined : value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw refuse(issue, v.getDotPath(issue) ?? undefined);
}

/** The field and what is wrong with it. */
export const faultText = (message: string, path: string | undefined): string =>
  path === undefined ? message : `${path}: ${message}`;

const invalidArgument: Refuse = ({ message }, path) => new AppError("INVALID_ARGUMENT", faultText(message, path));
