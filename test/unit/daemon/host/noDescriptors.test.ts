/** Programs that cannot be started because no descriptor is free: then Node makes no pipes, and says so a moment later. */
import { ChildProcess } from "node:child_process";
import { beforeEach, expect, test, vi } from "vitest";
import { openPiped } from "../../../../daemon/host/clients/pipeTransport.ts";
import { startGroupedProgram } from "../../../../daemon/host/groupedProgram.ts";

const nothing = (): void => undefined;

beforeEach(() => {
  vi.spyOn(ChildProcess.prototype as unknown as { spawn(): number }, "spawn").mockImplementation(function (
    this: ChildProcess,
  ) {
    process.nextTick(() => this.emit("error", Object.assign(new Error("spawn ssh EMFILE"), { code: "EMFILE" })));
    return -24;
  });
});

test("a grouped program is closed, without an exit, and what is written to it is not taken", async () => {
  const onExit = vi.fn<() => void>();
  const refused = await new Promise<Error | null | undefined>((resolve) => {
    let taken: Error | null | undefined;
    const program = startGroupedProgram({
      file: "ssh",
      args: [],
      cwd: "/",
      env: {},
      hasInput: true,
      onOutput: nothing,
      onErrors: nothing,
      onExit,
      onClosed: () => resolve(taken),
    });
    program.write(new Uint8Array(1), (error) => (taken = error));
    program.signal("SIGTERM");
    program.letGo();
  });
  expect([refused?.message, onExit.mock.calls]).toEqual(["its input is closed", []]);
});

test("a client on pipes closes, once", async () => {
  const onClose = vi.fn<() => void>();
  const client = openPiped({ file: "tmux", args: [], env: {}, cwd: "/", onData: nothing, onErrors: nothing, onClose });
  client.write("list-sessions\n");
  client.endInput();
  await vi.waitFor(() => expect(onClose).toHaveBeenCalledTimes(1));
});
