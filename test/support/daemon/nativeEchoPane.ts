/** A pane that prints exactly the bytes it is given, for sessions made up by a test. */
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { collectUntil, seen } from "../tmux/output.ts";

export interface EchoPane {
  readonly pane: PaneId;
  readonly source: OutputSource;
  /** Resolves when all of them have come back. */
  print(bytes: Uint8Array): Promise<void>;
}

export async function echoPane(server: TmuxServer, name: string, cols: number, rows: number): Promise<EchoPane> {
  const command = ["sh", "-c", "stty raw -echo; printf 'echo is ready'; exec cat"];
  const session = await server.createSession({ name, cols, rows, command });
  const pane = session.activePane!;
  const source = server.output(pane);
  await seen(source, 0, "echo is ready");
  return {
    pane,
    source,
    print: async (bytes) => {
      const from = source.outputSeq;
      await server.input(pane, [{ kind: "text", bytes }]);
      await collectUntil(source, from, (all) => all.length >= bytes.length);
    },
  };
}
