/** The only code that calls the schema library's parsers. */
import * as v from "valibot";
import { AppError } from "../errors.ts";
import { type Fault, faultOf, faultText, UNSAID } from "./faultWords.ts";

/** Makes the error for what is wrong first. */
export type Refuse = (fault: Fault) => Error;

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

/** A schema's type, or what is wrong; `output` then has the members before the invalid one. */
type Tried<Schema extends v.GenericSchema> =
  | { readonly success: true; readonly output: v.InferOutput<Schema> }
  | { readonly success: false; readonly output: unknown; readonly fault: Fault };

interface ParseOptions {
  /** Whether the schema accepts arrays. */
  readonly mayBeArray?: boolean | undefined;
  /** What a member of the value is called; default: an argument. */
  readonly noun?: string | undefined;
}

/** Like `parse`, but returns what is wrong instead of throwing. */
export function tryParse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  { mayBeArray = false, noun }: ParseOptions = {},
): Tried<Schema> {
  const { output, issue } = judged(schema, value, mayBeArray);
  if (issue === undefined) return { success: true, output: output as v.InferOutput<Schema> };
  return { success: false, output, fault: faultOf(schema, issue, (part, given) => judged(part, given).issue, noun) };
}

/** Only one issue is reported, because a list of a million items may have as many. */
const CONFIG = { abortEarly: true, message: UNSAID } as const;

function judged(schema: v.GenericSchema, value: unknown, mayBeArray = false) {
  if (recognizers.get(schema)?.(value) === true) return { output: value };
  // The library treats an array as an object without members.
  const given = Array.isArray(value) && !mayBeArray ? undefined : value;
  const { output, issues } = v.safeParse(schema, given, CONFIG);
  return { output, issue: issues?.[0] };
}

/** @throws the error that `refuse` makes of what is wrong first; default: AppError INVALID_ARGUMENT that names the argument */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  refuse: Refuse = invalidArgument,
  options: ParseOptions = {},
): v.InferOutput<Schema> {
  const parsed = tryParse(schema, value, options);
  if (parsed.success) return parsed.output;
  throw refuse(parsed.fault);
}

/** Whether a schema accepts a value; for schemas that do not transform. */
export const matches = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): value is v.InferInput<Schema> => judged(schema, value).issue === undefined;

const invalidArgument: Refuse = (fault) => new AppError("INVALID_ARGUMENT", faultText(fault));
