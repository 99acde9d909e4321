/** Operations on windows and panes, each named after its tmux command. A target is an id, a number or a session's name. */
import { LAYOUT_OPERATION_NAMES, type LayoutOperationName } from "../../protocol/api/operationRoutes.ts";
import type { NativeLayoutRequest, NativeLayoutResult } from "../../protocol/api/nativeLayout.ts";
import type { CallOptions, HttpCaller } from "./clientHttp.ts";

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type Run<Name extends LayoutOperationName> = (
  request: NativeLayoutRequest<Name>,
  options?: CallOptions,
) => Promise<NativeLayoutResult>;

/** `newWindow`, `splitWindow` and so on; the response's `pane` to `respawnPane` is another one than before. */
export type LayoutClient = { readonly [Name in LayoutOperationName as CamelCase<Name>]: Run<Name> } & {
  /** By tmux's own name. */
  run<Name extends LayoutOperationName>(name: Name, ...request: Parameters<Run<Name>>): ReturnType<Run<Name>>;
};

export function layoutClient(http: HttpCaller, server: string): LayoutClient {
  const run = (name: LayoutOperationName, request: object, options?: CallOptions): Promise<NativeLayoutResult> =>
    http.perform(name, { server }, request, options);
  const methods = LAYOUT_OPERATION_NAMES.map((name) => [
    name.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase()),
    (request: object, options?: CallOptions) => run(name, request, options),
  ]);
  return { run, ...Object.fromEntries(methods) } as LayoutClient;
}
