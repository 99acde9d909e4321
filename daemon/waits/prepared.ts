/** An admitted request on its way to being armed: what its predicates have to know before anything is typed. */
import type { CompiledRegex } from "./regex/compiledRegex.ts";
import type { CheckedPredicate, CheckedRequest } from "./waitRequest.ts";

export interface Prepared {
  readonly request: CheckedRequest;
  /** In the order of `request.regexes`; empty once they are released. */
  readonly regexes: CompiledRegex[];
  /** What `Predicate.prepare` returned. */
  predicates: Map<CheckedPredicate, Partial<Disposable>>;
  /** The place among the waits. */
  readonly release: () => void;
}

/** For all requests whose predicates need to know nothing. */
export const NOTHING_PREPARED: Prepared["predicates"] = new Map();

export const needsPreparation = (request: CheckedRequest): boolean => toPrepare(request).length > 0;

/** Those that were prepared are known also when another one fails. @throws AppError (rejects) */
export async function preparePredicates(prepared: Prepared): Promise<void> {
  const { request } = prepared;
  const wanted = toPrepare(request);
  if (wanted.length > 0) prepared.predicates = new Map();
  for (const predicate of wanted) {
    const known = await predicate.row.prepare?.(predicate.checked, request.pane!);
    if (known !== undefined) prepared.predicates.set(predicate, known);
  }
}

function toPrepare({ all, anyOf, pane }: CheckedRequest): readonly CheckedPredicate[] {
  if (pane === undefined) return [];
  const sets = all === undefined ? anyOf : [all, ...anyOf];
  return sets.flatMap(({ predicates }) => predicates.filter(({ row }) => row.prepare !== undefined));
}
