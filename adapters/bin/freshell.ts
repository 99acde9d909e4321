#!/usr/bin/env node
/**
 * The second executable: the command line of a Freshell server. It speaks HTTP and never loads the daemon. As with the first
 * one, everything is loaded once it is known that this Node can.
 */
import process from "node:process";
import { refuseOldNode } from "./oldNode.ts";

refuseOldNode("freshell");

const { freshellMain } = await import("./freshellMain.ts");
const exitCode = await freshellMain();
// Exits although handles may be open, as `tmuxwire` does.
process.exit(exitCode);
