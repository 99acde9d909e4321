/** The processes of a host that reports nothing about them. */
import type { HostProcesses } from "./hostProcesses.ts";

export const nothing = (): undefined => undefined;
export const nothingLater = async (): Promise<undefined> => undefined;

export const unknownProcesses: HostProcesses = {
  reportsNow: false,
  isThere: async () => false,
  stat: nothingLater,
  statNow: nothing,
  isRunningNow: nothing,
  waitsForChildNow: nothing,
  bytesReadNow: nothing,
  executableNow: nothing,
  signalsNow: nothing,
  hasTerminalInputNow: nothing,
  cwdNow: nothing,
  words: nothingLater,
  wordsNow: nothing,
  environment: nothingLater,
  openFiles: nothingLater,
  children: nothingLater,
  childrenNow: nothing,
  isAlive: nothing,
  signal: nothing,
  owner: nothingLater,
  programOf: nothing,
  probe: async () => unknownProcesses,
};
