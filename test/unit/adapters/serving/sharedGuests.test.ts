/** A guest that could not be opened is opened anew when it is asked for again. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OpenParts } from "../../../../adapters/serving/openParts.ts";
import { SharedGuests } from "../../../../adapters/serving/sharedGuests.ts";
import { silentLog } from "../../../../bench/silentLog.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

test("a tmux that could not be used is asked again", async () => {
  const directory = ownDirectory();
  const tmux = (line: string): void => {
    writeFileSync(join(directory, "tmux"), `#!/bin/sh\n${line}\n`);
    chmodSync(join(directory, "tmux"), 0o755);
  };
  const open = new OpenParts(silentLog);
  const guests = new SharedGuests({
    env: { PATH: directory },
    log: silentLog,
    ringBytes: 65_536,
    open,
    agents: { addServer: () => () => undefined },
  });
  const socketPath = join(directory, "sock");
  tmux("exit 1");
  await expect(guests.opened(socketPath, "user")).rejects.toMatchObject({ code: "TMUX_UNAVAILABLE" });
  tmux("echo tmux 3.5a");
  const { server, listed } = await guests.opened(socketPath, "user");
  expect(await guests.opened(socketPath, "other")).toMatchObject({ server });
  listed.catch(() => undefined);
  expect(open.servers).toHaveLength(1);
  await open.close();
});
