/** The request of a wait: predicates from the table, together or as alternatives, and where to look for them. */
import * as v from "valibot";
import { PREDICATES } from "../../../daemon/waits/predicates/predicateTable.ts";
import { fromSchema, inputRequestSchema, timeoutMs } from "../../../protocol/api/native/nativeRequests.ts";
import { optional } from "../../../protocol/api/described.ts";

type Row = (typeof PREDICATES)[number];
type Fields = { readonly [Each in Row as Each["field"]]: v.OptionalSchema<Each["schema"], undefined> };

const predicates = Object.fromEntries(PREDICATES.map(({ field, schema }) => [field, v.optional(schema)])) as Fields;

const predicatesSchema = v.strictObject(predicates);
export type NativePredicates = v.InferInput<typeof predicatesSchema>;

export const waitRequestSchema = v.strictObject({
  ...predicates,
  anyOf: optional(
    v.pipe(v.array(predicatesSchema), v.minLength(1), v.maxLength(16)),
    "Sets of predicates; at least one set must hold, in addition to the predicates above.",
  ),
  from: v.optional(fromSchema),
  on: optional(
    v.picklist(["stream", "screen"]),
    "What patterns are matched against: the output, or also the screen rows that have changed since the wait began.",
  ),
  timeoutMs,
  send: optional(inputRequestSchema, "Typed once the wait is armed; its echo does not count."),
});
export type NativeWaitRequest = v.InferInput<typeof waitRequestSchema>;
