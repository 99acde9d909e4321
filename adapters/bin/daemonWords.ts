/** Whether a command line is one that becomes the daemon. */
export const isDaemon = ([name]: readonly string[]): boolean => name === "serve" || name === "addin";
