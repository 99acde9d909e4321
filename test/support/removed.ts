import { rmSync } from "node:fs";
import { eventually } from "./clock/eventually.ts";

/**
 * Removes a directory into which a program that was ended may still write for a moment. `maxRetries` of `rmSync` does not look
 * again for what has come since, and waits the longer the more often it has tried.
 */
export function removed(directory: string): Promise<void> {
  return eventually(() => {
    try {
      rmSync(directory, { recursive: true, force: true });
      return true;
    } catch {
      return false;
    }
  }, 50);
}
