/** The only code that calls the schema library's parsers. */
import * as v from "valibot";
import { AppError } from "../errors.ts";

/** Makes the error for the first issue; `path` is the field's, undefined for the value itself. */
export type Refuse = (issue: v.BaseIssue<unknown>, path: string | undefined) => Error;

/** Functions that recognise values a schema would return unchanged, so that it need not run. */
const recognizers = new WeakMap<v.GenericSchema, (value: unknown) => boolean>();

/** @param isPlain true only for values that the schema would return unchanged; `parse` then skips the schema */
export function recognized<Schema extends v.GenericSchema>(
  schema: Schema,
  isPlain: (value: unknown) => boolean,
): Schema {
  recognizers.set(schema, isPlain);
  return schema;
}

/** A schema's type, or the first issue; `output` then has the members before the invalid one. */
type Tried<Schema extends v.GenericSchema> =
  | { readonly success: true; readonly output: v.InferOutput<Schema> }
  | {
      readonly success: false;
      readonly output: unknown;
      readonly issue: v.BaseIssue<unknown>;
      readonly path: string | undefined;
    };

interface ParseOptions {
  /** Whether the schema accepts arrays. */
  readonly mayBeArray?: boolean | undefined;
}

/** Like `parse`, but returns the issue instead of throwing. */
export function tryParse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  { mayBeArray = false }: ParseOptions = {},
): Tried<Schema> {
  if (recognizers.get(schema)?.(value) === true) return { success: true, output: value };
  // The library treats an array as an object without members.
  const given = Array.isArray(value) && !mayBeArray ? undefined : value;
  // Only one issue is reported, because a list of a million items may have as many.
  const parsed = v.safeParse(schema, given, { abortEarly: true });
  if (parsed.success) return parsed;
  const [issue] = parsed.issues;
  return { success: false, output: parsed.output, issue, path: v.getDotPath(issue) ?? undefined };
}

/** @throws the error that `refuse` makes for the first issue; default: AppError INVALID_ARGUMENT that names the field */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  refuse: Refuse = invalidArgument,
): v.InferOutput<Schema> {
  const parsed = tryParse(schema, value);
  if (parsed.success) return parsed.output;
  throw refuse(parsed.issue, parsed.path);
}

/** Whether a schema accepts a value; for schemas that do not transform. */
export const matches = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): value is v.InferInput<Schema> => tryParse(schema, value).success;

/** The field and what is wrong with it. */
export const faultText = (message: string, path: string | undefined): string =>
  path === undefined ? message : `${path}: ${message}`;

const invalidArgument: Refuse = ({ message }, path) => new AppError("INVALID_ARGUMENT", faultText(message, path));
