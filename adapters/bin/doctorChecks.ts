/** Every check of `tmuxwire doctor`, in the order in which a start would meet what they look at. */
import type { Config } from "../../daemon/ops/config.ts";
import { toAppError } from "../../protocol/errors.ts";
import { databaseCheck } from "./doctorDatabase.ts";
import { certificateCheck, tokenCheck } from "./doctorFiles.ts";
import { addinPortCheck, dashboardPortCheck, nativePortCheck, unixSocketCheck, usersCheck } from "./doctorListeners.ts";
import type { Finding } from "./doctorReport.ts";
import { fail, finding, ok } from "./doctorReport.ts";
import { ADDIN_SOCKET_SETTING, TMUX_SOCKET_SETTING } from "./configOptions.ts";
import { descriptorCheck, nodeCheck, sessionCheck } from "./doctorSystem.ts";
import { guestCheck, hubCheck, tmuxCheck, tmuxSocketCheck } from "./doctorTmux.ts";
import type { Io } from "./io.ts";

export async function examine(io: Io, readConfig: () => Config): Promise<Finding[]> {
  const system = [
    await finding("node", nodeCheck),
    await finding("tmux", () => tmuxCheck(io)),
    await finding("descriptors", descriptorCheck),
    await finding("user session", () => sessionCheck(io)),
  ];
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    return [...system, fail("configuration", toAppError(error).message)];
  }
  const { native, addin, dashboard, certificates, allowUids } = config;
  const sockets = [
    { check: "tmux socket", path: native.tmuxSocketPath, setting: TMUX_SOCKET_SETTING },
    ...(addin.mode === "tmux" ? [{ check: "add-in tmux", path: addin.socketPath, setting: ADDIN_SOCKET_SETTING }] : []),
  ];
  const findings = [...system, ok("configuration", "every setting is usable; `tmuxwire config` shows them")];
  for (const { check, path, setting } of sockets) {
    findings.push(await finding(check, () => tmuxSocketCheck(check, path, setting)));
    findings.push(await finding(`${check} hubs`, () => hubCheck(`${check} hubs`, path, io)));
  }
  for (const guest of native.guests) findings.push(await finding(`server ${guest.name}`, () => guestCheck(guest)));
  findings.push(
    await finding("unix socket", () => unixSocketCheck(native.socketPath)),
    await finding("native port", () => nativePortCheck(native)),
    await finding("token", () => tokenCheck(native.tokenPath)),
    await finding("add-in port", () => addinPortCheck(addin)),
    await finding("add-in users", () => usersCheck("add-in users", allowUids, addin.token, "TMUX_BRIDGE_TOKEN")),
    await finding("certificate", () => certificateCheck(addin.https, certificates)),
    await finding("dashboard port", () => dashboardPortCheck(dashboard)),
    await finding("dashboard users", () =>
      usersCheck("dashboard users", allowUids, dashboard.token, "TMUXWIRE_DASHBOARD_TOKEN"),
    ),
    await finding("dashboard data", () => databaseCheck("dashboard data", dashboard.databasePath)),
  );
  return findings;
}
