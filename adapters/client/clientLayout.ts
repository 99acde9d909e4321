/** Operations on windows and panes, each named after its tmux command. A target is an id, a number or a session's name. */
import type { LayoutOperationName } from "../../protocol/api/operationRoutes.ts";
import type { NativeLayoutRequest, NativeLayoutResult } from "../../protocol/api/nativeLayout.ts";
import type { CallOptions, HttpCaller } from "./clientHttp.ts";

type Operation<Name extends LayoutOperationName> = (
  request: NativeLayoutRequest<Name>,
  options?: CallOptions,
) => Promise<NativeLayoutResult>;

type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;
/** One method for each operation: one that is missing does not compile. */
type LayoutMethods = { readonly [Name in LayoutOperationName as CamelCase<Name>]: Operation<Name> };

export class LayoutClient implements LayoutMethods {
  readonly #http: HttpCaller;
  readonly #server: string;

  constructor(http: HttpCaller, server: string) {
    this.#http = http;
    this.#server = server;
  }

  readonly newWindow: Operation<"new-window"> = (request, options) => this.run("new-window", request, options);
  readonly splitWindow: Operation<"split-window"> = (request, options) => this.run("split-window", request, options);
  readonly killPane: Operation<"kill-pane"> = (request, options) => this.run("kill-pane", request, options);
  readonly killWindow: Operation<"kill-window"> = (request, options) => this.run("kill-window", request, options);
  readonly renameWindow: Operation<"rename-window"> = (request, options) => this.run("rename-window", request, options);
  readonly renameSession: Operation<"rename-session"> = (request, options) =>
    this.run("rename-session", request, options);
  readonly selectPane: Operation<"select-pane"> = (request, options) => this.run("select-pane", request, options);
  readonly selectWindow: Operation<"select-window"> = (request, options) => this.run("select-window", request, options);
  readonly swapPane: Operation<"swap-pane"> = (request, options) => this.run("swap-pane", request, options);
  readonly movePane: Operation<"move-pane"> = (request, options) => this.run("move-pane", request, options);
  readonly joinPane: Operation<"join-pane"> = (request, options) => this.run("join-pane", request, options);
  readonly breakPane: Operation<"break-pane"> = (request, options) => this.run("break-pane", request, options);
  readonly resizePane: Operation<"resize-pane"> = (request, options) => this.run("resize-pane", request, options);
  readonly resizeWindow: Operation<"resize-window"> = (request, options) => this.run("resize-window", request, options);
  readonly selectLayout: Operation<"select-layout"> = (request, options) => this.run("select-layout", request, options);
  /** The response's `pane` is another one than before. */
  readonly respawnPane: Operation<"respawn-pane"> = (request, options) => this.run("respawn-pane", request, options);
  readonly clearHistory: Operation<"clear-history"> = (request, options) => this.run("clear-history", request, options);
  readonly setWindowOption: Operation<"set-window-option"> = (request, options) =>
    this.run("set-window-option", request, options);
  readonly setPaneOption: Operation<"set-pane-option"> = (request, options) =>
    this.run("set-pane-option", request, options);

  run<Name extends LayoutOperationName>(
    name: Name,
    request: NativeLayoutRequest<Name>,
    options: CallOptions = {},
  ): Promise<NativeLayoutResult> {
    return this.#http.perform(name, { server: this.#server }, request, options);
  }
}
