/** What reads from NATS asks no daemon. */
const ELSEWHERE = /^--nats(?:=|$)/;

/** Whether a command line reads from NATS. */
export const isForNats = (args: readonly string[]): boolean => args.some((word) => ELSEWHERE.test(word));
