/**
 * An MCP tool: a description for a model, an input schema, and the operations it performs. It reaches tmux
 * only through the table of operations; the tier checks every server and pane first. A tool's schema is composed of its
 * operations' schemas, so its input is validated once: a second validation would see values that the first has transformed.
 */
import * as v from "valibot";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneInfo } from "../../../daemon/tmux/inventory.ts";
import type { OperationName, OperationNames } from "../../../protocol/api/operationRoutes.ts";
import { described, filled, optional, whole } from "../../../protocol/api/described.ts";
import { invalidArgument, toAppError } from "../../../protocol/errors.ts";
import { findPaneOrAgent, findServer } from "../../operations/findTargets.ts";
import type { Call, OperationContext } from "../../operations/operation.ts";
import { perform } from "../../operations/perform.ts";
import type { McpTier, ToolEffect } from "./mcpTier.ts";
import type { Words } from "./modelSchema.ts";

/** Called while a tool runs. */
export type Progress = (output: { readonly bytes: number; readonly text: string }) => void;

export interface ToolCallParts {
  readonly context: OperationContext;
  readonly tier: McpTier;
  readonly signal?: AbortSignal | undefined;
  /** Absent if not requested. */
  readonly progress?: Progress | undefined;
}

export interface ToolOutput {
  /** The text for the model. */
  readonly text: string;
  readonly structured: object;
}

interface NamedPane {
  readonly server?: string | undefined;
  readonly pane: string;
}

/** One call of one tool. */
export class ToolCall {
  readonly context: OperationContext;
  readonly tier: McpTier;
  readonly signal: AbortSignal | undefined;
  readonly progress: Progress | undefined;

  constructor({ context, tier, signal, progress }: ToolCallParts) {
    this.context = context;
    this.tier = tier;
    this.signal = signal;
    this.progress = progress;
  }

  /** Its server is undefined on another machine, where all panes may be used. @throws AppError FORBIDDEN, NOT_FOUND */
  server(given: string | undefined): { readonly name: string; readonly server: TmuxServer | undefined } {
    const name = this.tier.serverName(given);
    if (!this.#isElsewhere({ server: name })) return { name, server: findServer(this.context.servers, name) };
    this.tier.requireAllPanes(name);
    return { name, server: undefined };
  }

  /** How operations call it. @throws AppError FORBIDDEN, NOT_FOUND */
  paneName({ server, pane }: NamedPane): { readonly server: string; readonly pane: string } {
    const name = this.tier.serverName(server);
    if (!this.#isElsewhere({ server: name, pane })) {
      const found = this.pane({ server, pane });
      return { server: found.name, pane: found.pane.id };
    }
    this.tier.requireAllPanes(name);
    return { server: name, pane };
  }

  /** Of this machine. @throws AppError FORBIDDEN, NOT_FOUND */
  pane(named: NamedPane): { readonly name: string; readonly server: TmuxServer; readonly pane: PaneInfo } {
    const on = this.tier.serverName(named.server);
    if (this.#isElsewhere({ server: on, pane: named.pane })) {
      throw invalidArgument("this is for panes of this machine: read the screen, or wait for its text");
    }
    const found = findPaneOrAgent(this.context, on, named.pane);
    const { server, pane } = found;
    // An agent's name leads to its own server.
    const name = this.tier.serverName(found.serverName);
    this.tier.requirePane(server, pane);
    return { name, server, pane };
  }

  /** Performs an operation on a pane by its id, without a second lookup. @throws AppError */
  async onPane<Output>(operation: OperationName, named: NamedPane, input: object, more: Call = {}): Promise<Output> {
    return this.perform(operation, this.paneName(named), input, more);
  }

  #isElsewhere(names: OperationNames): boolean {
    return this.context.remote?.finds(names) === true;
  }

  /** For names that the tier has already checked. @throws AppError */
  perform<Output>(
    operation: OperationName,
    names: OperationNames,
    input: object = {},
    more: Call = {},
  ): Promise<Output> {
    const request = { names, input, isChecked: true, signal: this.signal, by: "mcp", ...more } as const;
    return perform(this.context, operation, request) as Promise<Output>;
  }
}

/** Undefined if the target has closed meanwhile. @throws AppError */
export async function unlessGone<Output>(work: Promise<Output>): Promise<Output | undefined> {
  try {
    return await work;
  } catch (thrown) {
    if (toAppError(thrown).code === "NOT_FOUND") return undefined;
    throw thrown;
  }
}

export interface McpTool<In extends v.GenericSchema = v.GenericSchema> {
  readonly name: string;
  readonly title: string;
  /** For the model: what it does, when to use it, what it costs. */
  readonly description: string;
  readonly effect: ToolEffect;
  /** It changes something, and a second call nothing further. */
  readonly isIdempotent?: true;
  /** As the API has it. */
  readonly input: In;
  /** What the model reads instead of the API's words. */
  readonly words?: Words | undefined;
  /** @throws AppError */
  run(call: ToolCall, input: v.InferOutput<In>): Promise<ToolOutput>;
}

/** Makes a row, and keeps its types. */
export const mcpTool = <In extends v.GenericSchema>(row: McpTool<In>): McpTool => row;

const name = filled(256);
export const SERVER = {
  server: v.optional(name),
};
export const PANE = {
  ...SERVER,
  pane: described(name, "%5, a session's name, or an agent's."),
};
/** A schema member about a result's text. */
export const TEXT_BOUND = {
  maxOutputBytes: optional(whole(256, 1_048_576), "Of text, the newest; default 16384."),
};
