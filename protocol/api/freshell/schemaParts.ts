/** Checks that several schemas of the Freshell contract share, with their messages. */
import * as v from "valibot";
import { type Fields, isFields } from "../../text/jsonObject.ts";
import { wellFormedText } from "../../text/wellFormed.ts";

export const notEmpty = v.nonEmpty<string, string>("must not be empty");
export const atMost = (chars: number) =>
  v.maxLength<string, number, string>(chars, `must have at most ${chars} characters`);
export const noControls = v.regex<string, string>(/^\P{Cc}*$/u, "must not contain control characters");

/** Text that is typed or sent. */
export const sentText = v.pipe(wellFormedText, notEmpty);
/** Text that becomes an argument or an option of a program. */
export const argument = v.pipe(sentText, v.regex(/^[^\0]*$/, "must not contain a NUL character"));

export const anObject = v.custom<Fields>(isFields, "must be an object");

type Message<Type extends string, Entries extends v.ObjectEntries> = v.ObjectSchema<
  Entries & { readonly type: v.LiteralSchema<Type, undefined> },
  undefined
>;

/** The messages of these names and members; a message's name is its `type`. */
export const messages = <const Rows extends Readonly<Record<string, v.ObjectEntries>>>(rows: Rows) =>
  Object.fromEntries(
    Object.entries(rows).map(([type, entries]) => [type, v.object({ type: v.literal(type), ...entries })]),
  ) as unknown as { readonly [Type in keyof Rows & string]: Message<Type, Rows[Type]> };
