/**
 * A process that links to the host `build` of an ssh configuration, for a test that kills it: `linkChild CONFIG DIRECTORY`.
 * Built with the programs (`bundlePrograms.mjs`).
 */
import process from "node:process";
import { HostLink } from "../../../adapters/remote/hostLink.ts";
import { openSsh } from "../../../adapters/remote/sshConnection.ts";
import { systemClock } from "../../../daemon/time/clock.ts";

const [configFile, directory = ""] = process.argv.slice(2);
const link = new HostLink({
  name: "build",
  destination: "build",
  configFile,
  directory,
  loginPath: "/nonexistent",
  env: process.env,
  clock: systemClock,
  nowUnixMs: Date.now,
  open: openSsh,
  onError: () => undefined,
});
await link.connection();
process.stdout.write("connected\n");
