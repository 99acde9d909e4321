/** A server at which something happens right before or after a part is typed. */
import type { InputOptions, InputPart } from "../../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";

export function aroundInput(
  server: TmuxServer,
  when: "before" | "after",
  kind: InputPart["kind"],
  act: (options: InputOptions | undefined) => Promise<void>,
): TmuxServer {
  const input: TmuxServer["input"] = async (pane, parts, options) => {
    const isMeant = parts.at(-1)?.kind === kind;
    if (isMeant && when === "before") await act(options);
    const receipt = await server.input(pane, parts, options);
    if (isMeant && when === "after") await act(options);
    return receipt;
  };
  return new Proxy(server, {
    get: (target, name) => {
      if (name === "input") return input;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
