/** Reads the streamed response of `run`: lines of JSON, the result last. */
import type { NativeErrorResponse, NativeRunResponse } from "../../protocol/api/native/nativeResponses.ts";
import type { NativeRunRequest } from "../../protocol/api/native/nativeRequests.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";
import { textLines } from "../../protocol/text/textLines.ts";
import { decodeBase64 } from "./clientEvents.ts";
import { errorOf, type HttpCaller, TmuxwireError } from "./clientHttp.ts";

export interface RunListener {
  /** Called with the command's output as it comes. */
  readonly onOutput: (bytes: Uint8Array) => void | Promise<void>;
  /** Called when the command has been typed; from then on it keeps running even if the call fails. */
  readonly onTyped?: (() => void) | undefined;
  /** Called when output is missing at this point because the reader was too slow. */
  readonly onSkipped?: ((bytes: number) => void) | undefined;
}

type Line =
  | { readonly typed: true }
  | { readonly output: string; readonly exitCode?: undefined }
  | { readonly skipped: number }
  | NativeErrorResponse
  | NativeRunResponse;

/** @throws TmuxwireError; the signal's reason when it aborts */
export async function runAndListen(
  http: HttpCaller,
  { server, pane }: { readonly server: string; readonly pane: string },
  request: NativeRunRequest,
  { onOutput, onTyped, onSkipped }: RunListener,
  signal: AbortSignal | undefined,
): Promise<NativeRunResponse> {
  const response = await http.open({
    method: "POST",
    path: ["v1", "servers", server, "panes", pane, "run"],
    body: request,
    signal,
    headers: { accept: "application/x-ndjson" },
  });
  for await (const text of textLines(piecesOf(response, signal))) {
    const line = parseJson(text) as Line | undefined;
    // An empty one, or the last one, which was cut.
    if (line === undefined) continue;
    if ("error" in line) throw errorOf(line, response);
    if ("typed" in line) onTyped?.();
    else if ("skipped" in line) onSkipped?.(line.skipped);
    else if (line.exitCode === undefined) await onOutput(decodeBase64(line.output));
    else return line;
  }
  throw lost();
}

async function* piecesOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = (await reader.read().catch((error: unknown) => {
        signal?.throwIfAborted();
        throw lost({ cause: error });
      })) as { readonly done: boolean; readonly value?: Uint8Array };
      if (done || value === undefined) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const lost = (options?: ErrorOptions): TmuxwireError =>
  new TmuxwireError("DAEMON_UNREACHABLE", "the connection to the daemon was lost; the command keeps running", options);
