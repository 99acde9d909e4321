/** The part of pi's extension interface that the extension uses. */

/** The JSON schema of an object. */
export interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties: false;
}

export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly details: unknown;
}

export interface PiContext {
  readonly hasUI: boolean;
  readonly cwd?: string | undefined;
  readonly ui?: { notify(message: string, level?: "info" | "warning" | "error"): void } | undefined;
}

export interface PiTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
  execute(
    toolCallId: string,
    params: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    onUpdate?: unknown,
    context?: PiContext,
  ): Promise<ToolResult>;
}

export interface ToolCallEvent {
  readonly toolName: string;
  readonly toolCallId?: string | undefined;
  readonly input?: Readonly<Record<string, unknown>> | undefined;
}

export interface PiApi {
  registerTool(tool: PiTool): void;
  on(event: string, handler: (...args: unknown[]) => unknown): void;
}
