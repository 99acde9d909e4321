/** Small files of the user and of installed programs: anything else than a regular file could keep the daemon waiting. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** @throws Error that says what is wrong with the file */
export function readRegularFile(file: string, maxBytes: number): string {
  // Opening a FIFO would wait for its other end.
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error("not a file");
    if (stat.size > maxBytes) throw new Error(`longer than ${maxBytes} bytes`);
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}
