/** Starts the add-in's listener: its own tmux server or the stub, a certificate, a port (docs/contracts/addin.md §1). */
import { StubServer } from "../../daemon/servers/stub/stubServer.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { createAddinApp } from "./addinApp.ts";
import { keepCertificateFresh, resolveCertificate } from "../kit/trust/certificates.ts";
import { listen } from "../kit/listeners/listen.ts";
import { openOwnedServer, peerUsers, type StartContext } from "../serving/startContext.ts";
import { ADDIN_SETTINGS, type AddinConfig } from "./addinConfig.ts";

/** @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE */
export async function startAddin(addin: AddinConfig, context: StartContext): Promise<void> {
  const { waits, open, log, print } = context;
  const users = peerUsers(context, addin.token, ADDIN_SETTINGS.token);
  const own = { name: "addin", socketPath: addin.socketPath, setting: ADDIN_SETTINGS.socket };
  const server = addin.mode === "stub" ? stub(context) : await openOwnedServer(context, own);
  const certificate = addin.https ? await resolveCertificate(addin.certificates, Date.now()) : undefined;
  const app = createAddinApp({ server, waits, clock: systemClock, config: addin, log, users });
  const listener = await listen({
    fetch: app.fetch,
    host: addin.host,
    port: addin.port,
    tls: certificate,
    clock: systemClock,
    settings: ADDIN_SETTINGS,
    log,
  });
  open.surfaces.push(() => listener.close());
  if (certificate !== undefined) {
    open.surfaces.push(
      keepCertificateFresh({
        config: addin.certificates,
        current: certificate,
        clock: systemClock,
        nowUnixMs: Date.now,
        log,
        replace: (pair) => listener.replaceCertificate(pair),
      }),
    );
  }
  print(`tmux bridge listening on ${listener.url} (${addin.mode} mode)`);
  if (certificate?.source === "own") {
    print("its certificate is signed by this machine's own authority; run `tmuxwire trust` to see how to trust it");
  }
}

function stub({ open, log }: StartContext): TmuxServer {
  const server = new StubServer({
    nowUnixMs: Date.now,
    onListenerError: (error) => log.error("listener.failed", { error }),
  });
  open.servers.push(() => server.close());
  return server;
}
