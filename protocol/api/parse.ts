/** The one way from an outside value to a schema's type: nothing else calls the library's parsers. */
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

/** A schema's type, or the first fault; of a faulty object `output` has the members that come before it. */
type Tried<Schema extends v.GenericSchema> =
  | { readonly success: true; readonly output: v.InferOutput<Schema> }
  | {
      readonly success: false;
      readonly output: unknown;
      readonly issue: v.BaseIssue<unknown>;
      readonly path: string | undefined;
    };

interface ParseOptions {
  /** The schema is for arrays as well. */
  readonly mayBeArray?: boolean | undefined;
}

/** Like `parse`, and returns what is wrong instead of throwing it. */
export function tryParse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  { mayBeArray = false }: ParseOptions = {},
): Tried<Schema> {
  if (recognizers.get(schema)?.(value) === true) return { success: true, output: value };
  // The library takes an array for an object without members.
  const given = Array.isArray(value) && !mayBeArray ? undefined : value;
  // One fault is told: of a list of a million there may be as many.
  const parsed = v.safeParse(schema, given, { abortEarly: true });
  if (parsed.success) return parsed;
  const [issue] = parsed.issues;
  return { success: false, output: parsed.output, issue, path: v.getDotPath(issue) ?? undefined };
}

/** @throws what `refuse` returns for the first fault; default AppError INVALID_ARGUMENT that names the field */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  refuse: Refuse = invalidArgument,
): v.InferOutput<Schema> {
  const parsed = tryParse(schema, value);
  if (parsed.success) return parsed.output;
  throw refuse(parsed.issue, parsed.path);
}

/** Whether a schema takes a value; for those that change nothing in it. */
export const matches = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): value is v.InferInput<Schema> => tryParse(schema, value).success;

/** The field and what is wrong with it. */
export const faultText = (message: string, path: string | undefined): string =>
  path === undefined ? message : `${path}: ${message}`;

const invalidArgument: Refuse = ({ message }, path) => new AppError("INVALID_ARGUMENT", faultText(message, path));
