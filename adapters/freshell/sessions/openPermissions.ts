/**
 * What the program of a session asks before it does something, until somebody answers or the program withdraws it.
 * Nothing here answers for a person. Requests have ids of ours: a program's may be anything.
 */
import type { PermissionRequest } from "../../../protocol/api/freshell/sessionEvents.ts";
import type { PermissionAnswer } from "../../../protocol/api/freshell/sessions.ts";
import { AppError } from "../../../protocol/errors.ts";
import { given, listAt, objectAt, textAt } from "../../agents/jsonFields.ts";
import { MAX_OPEN_PERMISSIONS } from "./sessionLimits.ts";
import type { JsonLine } from "../../agents/jsonFields.ts";

interface Open {
  readonly request: PermissionRequest;
  /** The program's own id. */
  readonly programsId: string;
}

export class OpenPermissions {
  readonly #newId: () => string;
  readonly #open = new Map<string, Open>();

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  get size(): number {
    return this.#open.size;
  }

  get isFull(): boolean {
    return this.#open.size >= MAX_OPEN_PERMISSIONS;
  }

  list(): readonly PermissionRequest[] {
    return [...this.#open.values()].map(({ request }) => request);
  }

  /** @param asked the program's `can_use_tool` */
  add(programsId: string, asked: JsonLine): PermissionRequest {
    const request: PermissionRequest = given({
      requestId: this.#newId(),
      subtype: "can_use_tool" as const,
      tool: { name: textAt(asked, "tool_name") ?? "", input: objectAt(asked, "input") ?? {} },
      toolUseID: textAt(asked, "tool_use_id"),
      suggestions: listAt(asked, "permission_suggestions"),
      blockedPath: textAt(asked, "blocked_path"),
      decisionReason: textAt(asked, "decision_reason"),
    });
    this.#open.set(request.requestId, { request, programsId });
    return request;
  }

  /** The program no longer wants an answer; returns our id. */
  withdraw(programsId: string): string | undefined {
    for (const [requestId, open] of this.#open) {
      if (open.programsId !== programsId) continue;
      this.#open.delete(requestId);
      return requestId;
    }
    return undefined;
  }

  /** Closes the request and returns the line for the program. @throws AppError NOT_FOUND */
  settle(answer: PermissionAnswer): { readonly line: object; readonly reopen: () => void } {
    const { requestId } = answer;
    const open = this.#open.get(requestId);
    if (open === undefined) {
      throw new AppError(
        "NOT_FOUND",
        "there is no such permission request: it was answered, taken back, or never asked; attach again to see which are open",
      );
    }
    this.#open.delete(requestId);
    const { request, programsId } = open;
    const response = { subtype: "success", request_id: programsId, response: responseOf(answer, request) };
    return {
      line: { type: "control_response", response },
      reopen: () => void this.#open.set(requestId, open),
    };
  }

  /** For a program that has ended: nobody can answer. */
  clear(): readonly string[] {
    const ids = [...this.#open.keys()];
    this.#open.clear();
    return ids;
  }
}

function responseOf(answer: PermissionAnswer, { tool }: PermissionRequest): object {
  const { behavior, updatedInput, updatedPermissions, message, interrupt } = answer;
  if (behavior === "allow") return given({ behavior, updatedInput: updatedInput ?? tool.input, updatedPermissions });
  return given({ behavior, message: message ?? "Denied by user", interrupt });
}
