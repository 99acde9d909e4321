/** Listening sockets that the service manager has opened and passes (sd_listen_fds(3)). */

/** First descriptor that systemd passes. */
const FIRST_FD = 3;

/** Descriptors passed to this process; none if they were meant for another process. */
export function inheritedDescriptors(env: Readonly<Record<string, string | undefined>>, pid: number): number[] {
  const count = Number(env["LISTEN_FDS"]);
  if (env["LISTEN_PID"] !== String(pid) || !Number.isInteger(count) || count < 1) return [];
  return Array.from({ length: Math.min(count, 16) }, (_, at) => FIRST_FD + at);
}
