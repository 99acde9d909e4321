/**
 * The paste buffers of long input are the one thing of ours that can stay behind on a user's server, when a daemon is
 * killed between two pieces. Their names say whose they are, so the next guest removes those of processes that are gone.
 */
import { deleteBuffer, listBufferNames } from "../../../protocol/command/build.ts";
import { lines } from "../../../protocol/command/rowFormat.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { HostProcesses } from "../../host/hostProcesses.ts";

const PREFIX = "tmuxwire-";

export const guestBufferName = (epoch: string, number: number): string => `${PREFIX}${process.pid}-${epoch}-${number}`;

/** @throws AppError CONNECTION_LOST */
export async function removeAbandonedBuffers(connection: ControlConnection, processes: HostProcesses): Promise<void> {
  const { body } = await connection.command(listBufferNames(`${PREFIX}*`));
  for (const name of lines(body)) {
    const pid = /^tmuxwire-(\d{1,9})-[0-9A-Za-z]+-\d+$/.exec(name)?.[1];
    if (pid !== undefined && processes.isAlive(Number(pid)) === false)
      connection.send(deleteBuffer(name), "none", () => undefined);
  }
}
