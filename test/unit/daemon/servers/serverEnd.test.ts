/** Whether a server has ended is looked at when its connection is lost, and not for ever. */
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linuxHost } from "../../../../daemon/host/linux/linuxHost.ts";
import { probeForEnd } from "../../../../daemon/servers/serverEnd.ts";
import { systemClock } from "../../../../daemon/time/clock.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { eventually } from "../../../support/clock/eventually.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

const lost = (reason: string): AppError => new AppError("CONNECTION_LOST", "lost", { details: { reason } });

const host = linuxHost();
let directory = "";
let socketPath = "";
let tries = 0;
let server: Server;
let onTry: () => void = () => undefined;

beforeEach(async () => {
  directory = ownDirectory();
  socketPath = join(directory, "s");
  tries = 0;
  onTry = () => undefined;
  server = createServer((client) => {
    tries += 1;
    client.destroy();
    onTry();
  }).listen(socketPath);
  await new Promise((resolve) => server.once("listening", resolve));
});

afterEach(() => {
  server.close();
});

test("tmux has said so, or the process is gone: at once", () => {
  let ended = 0;
  const onEnded = (): void => void (ended += 1);
  probeForEnd({ host, clock: systemClock, lost: lost("server exited"), socketPath, onEnded });
  // Above the kernel's highest pid.
  probeForEnd({ host, clock: systemClock, lost: lost("detached"), socketPath, pid: 4_194_305, onEnded });
  expect(ended).toBe(2);
});

test("one that is ending accepts for a while", async () => {
  onTry = () => {
    if (tries === 2) server.close();
  };
  await new Promise<void>((resolve) => {
    probeForEnd({ host, clock: systemClock, lost: lost("detached"), socketPath, pid: process.pid, onEnded: resolve });
  });
  expect(tries).toBe(2);
});

test("one that goes on is left alone", async () => {
  let ended = false;
  probeForEnd({ host, clock: systemClock, lost: lost("detached"), socketPath, onEnded: () => (ended = true) });
  await eventually(() => tries === 7);
  expect(ended).toBe(false);
});
