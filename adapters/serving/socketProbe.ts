/** Whether a process listens on a unix socket, which is the only way to tell a dead daemon's socket from a live one's. */
import { connect } from "node:net";
import { systemClock } from "../../daemon/time/clock.ts";

/** A listener accepts at once unless its backlog is full, and then it is alive as well. */
const RESPONSE_WITHIN_MS = 1_000;

export function isListening(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const settle = (listening: boolean): void => {
      timer.cancel();
      socket.destroy();
      resolve(listening);
    };
    const timer = systemClock.callAt(systemClock.nowMs() + RESPONSE_WITHIN_MS, () => settle(true));
    socket.once("connect", () => settle(true));
    // EAGAIN means a full backlog, so there is a listener.
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code === "EAGAIN"));
  });
}
