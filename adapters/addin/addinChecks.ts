/** The doctor's checks of what the add-in's bridge needs to start. */
import { existsSync } from "node:fs";
import { urlHost } from "../kit/peers/addresses.ts";
import { type CertificateConfig, resolveCertificate } from "../kit/trust/certificates.ts";
import { type Check, type CheckInputs, type Finding, ok, warn } from "../serving/findings.ts";
import { isHealth, portCheck, usersCheck } from "../serving/listenerChecks.ts";
import { ownTmuxChecks } from "../serving/tmuxChecks.ts";
import { ADDIN_SETTINGS, type AddinConfig } from "./addinConfig.ts";

export const addinChecks = (config: AddinConfig, { daemon, env }: CheckInputs): readonly Check[] => [
  ...(config.mode === "tmux" ? ownTmuxChecks("add-in tmux", config.socketPath, ADDIN_SETTINGS.socket, env) : []),
  portCheck({
    name: "add-in port",
    host: config.host,
    port: config.port,
    settings: ADDIN_SETTINGS,
    url: `${config.https ? "https" : "http"}://${urlHost(config.host)}:${config.port}/health`,
    headers: { origin: config.allowedOrigins[0] ?? "" },
    isOurs: isHealth,
  }),
  usersCheck("add-in users", daemon.allowUids, config.token, ADDIN_SETTINGS.token),
  { name: "certificate", probe: () => certificateCheck(config.https, config.certificates) },
];

/** A certificate that we do not renew ourselves needs attention if it expires within this time. */
const SOON_MS = 14 * 86_400_000;

/** Checks the certificate that the bridge would use; creates none. */
async function certificateCheck(https: boolean, config: CertificateConfig): Promise<Finding> {
  if (!https) return ok("certificate", "not needed: the add-in is served over plain http");
  const isGiven = config.configured !== undefined || existsSync(config.bridgeDir);
  if (!isGiven && !existsSync(config.stateDir)) {
    return ok("certificate", "will be created on the first start; run `tmuxwire trust` to see how to trust it");
  }
  const nowUnixMs = Date.now();
  const { source, notAfterUnixMs } = await resolveCertificate(config, nowUnixMs);
  const until = new Date(notAfterUnixMs).toISOString().slice(0, 10);
  const text = `${SOURCE_TEXTS[source]}, valid until ${until}`;
  if (notAfterUnixMs - nowUnixMs < SOON_MS) return warn("certificate", text, "renew it; a running daemon picks it up");
  return ok("certificate", source === "own" ? `${text}; run \`tmuxwire trust\` to see how to trust it` : text);
}

const SOURCE_TEXTS = {
  configured: "the configured one",
  bridge: "from ~/.pi-for-excel/certs",
  mkcert: "signed by mkcert's authority",
  own: "signed by this machine's own authority",
} as const;
