/** Checks the certificate that the add-in would be shown; none is made here. */
import { existsSync } from "node:fs";
import { type CertificateConfig, resolveCertificate } from "../http/certificates.ts";
import { type Finding, ok, warn } from "../serving/findings.ts";

/** Below this a certificate that we do not renew ourselves needs attention. */
const SOON_MS = 14 * 86_400_000;

export async function certificateCheck(https: boolean, config: CertificateConfig): Promise<Finding> {
  if (!https) return ok("certificate", "none is needed: the add-in is served over plain http");
  const isGiven = config.configured !== undefined || existsSync(config.bridgeDir);
  if (!isGiven && !existsSync(config.stateDir)) {
    return ok("certificate", "one will be made on the first start; `tmuxwire trust` says how to trust it");
  }
  const nowUnixMs = Date.now();
  const { source, notAfterUnixMs } = await resolveCertificate(config, nowUnixMs);
  const until = new Date(notAfterUnixMs).toISOString().slice(0, 10);
  const text = `${SOURCE_TEXTS[source]}, valid until ${until}`;
  if (notAfterUnixMs - nowUnixMs < SOON_MS)
    return warn("certificate", text, "renew it; a running daemon notices by itself");
  return ok("certificate", source === "own" ? `${text}; \`tmuxwire trust\` says how to trust it` : text);
}

const SOURCE_TEXTS = {
  configured: "the configured one",
  bridge: "from ~/.pi-for-excel/certs",
  mkcert: "signed by mkcert's authority",
  own: "signed by this machine's own authority",
} as const;
