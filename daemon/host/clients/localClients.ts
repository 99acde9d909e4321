/** Starts tmux clients on this machine. */
import { directClients } from "./directTransport.ts";
import { holdServer } from "./holdServer.ts";
import type { HostClients } from "../host.ts";
import { openPipeTransport, openShortTransport } from "./pipeTransport.ts";
import { openPtyTransport, ptyProblem } from "./ptyTransport.ts";
import { runProgram } from "../runProgram.ts";

export const localClients: HostClients = {
  open: (options) => (ptyProblem() === undefined ? openPtyTransport(options) : openPipeTransport(options)),
  // A pty can lose the last output of a client that ends immediately (a hang-up after a short read is taken for the end).
  openShort: openShortTransport,
  openDirect: directClients(),
  hold: holdServer,
  run: runProgram,
};
