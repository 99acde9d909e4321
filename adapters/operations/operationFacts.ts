/**
 * What a command line has to know of each operation. In bundles it is known when they are made (`bundleFacts.mjs`): a
 * command that asks a daemon needs none of the code and schemas that perform it.
 */
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import type { Operation, Scope } from "./operation.ts";
import { OPERATIONS } from "./operationTable.ts";
import { type SchemaMember, schemaMembers } from "./schemaMembers.ts";

export interface OperationFacts {
  readonly summary: string;
  readonly description?: string | undefined;
  readonly scope: Scope;
  readonly idempotent: Operation["idempotent"];
  /** Of its input, in order. */
  readonly members: readonly (readonly [name: string, member: SchemaMember])[];
}

const factsOf = ({ summary, description, scope, idempotent, input }: Operation): OperationFacts => ({
  summary,
  description,
  scope,
  idempotent,
  members: [...schemaMembers(input)],
});

export const OPERATION_FACTS = Object.fromEntries(
  Object.entries(OPERATIONS).map(([id, operation]) => [id, factsOf(operation)] as const),
) as Readonly<Record<OperationName, OperationFacts>>;
