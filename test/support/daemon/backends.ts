/** The backends that every contract row runs against, and an add-in application over one of them. */
import type { Hono } from "hono";
import type { AddinAppConfig } from "../../../adapters/addin/addinApp.ts";
import { createAddinApp } from "../../../adapters/addin/addinApp.ts";
import type { AddinWaits } from "../../../adapters/addin/addinWaits.ts";
import type { GuardEnv } from "../../../adapters/kit/guard/requestGuard.ts";
import { DEFAULT_ALLOWED_ORIGINS } from "../../../adapters/addin/addinConfig.ts";
import { silentLog } from "../../../bench/silentLog.ts";
import { StubServer } from "../../../daemon/servers/stub/stubServer.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { WaitManager } from "../../../daemon/waits/waitManager.ts";
import { AppError } from "../../../protocol/errors.ts";
import { type AddinClient, inProcess } from "./addinClient.ts";

export interface RunningBackend {
  readonly server: TmuxServer;
  close(): Promise<void>;
}

export interface Backend {
  readonly name: "stub" | "tmux";
  start(): Promise<RunningBackend>;
}

const rethrow = (error: unknown): void => {
  throw error;
};

export const stubBackend: Backend = {
  name: "stub",
  start: async () => {
    const server = new StubServer({ nowUnixMs: () => Date.now(), onListenerError: rethrow });
    return { server, close: () => server.close() };
  },
};

/** A tmux of its own on a private socket, gone with its programs when closed. */
export const tmuxBackend: Backend = {
  name: "tmux",
  start: async () => {
    // Not at the top: the native pty module is none of the stub's business.
    const { ownedFixture } = await import("../tmux/ownedFixture.ts");
    const { paneEnvironment } = await import("../../../daemon/ops/environment.ts");
    const fixture = await ownedFixture({ env: paneEnvironment({ ...process.env, TMUX_BRIDGE_TOKEN: BRIDGE_SECRET }) });
    return { server: fixture.server, close: async () => fixture[Symbol.asyncDispose]() };
  },
};

/** In the environment of the daemon whose tmux `tmuxBackend` starts: it must not be in a pane's. */
export const BRIDGE_SECRET = "bridge-s3cret";

export const addinConfig: AddinAppConfig = {
  host: "localhost",
  token: undefined,
  allowedOrigins: DEFAULT_ALLOWED_ORIGINS,
  allowNoOrigin: false,
  commandTimeoutMs: 10_000,
};

/** An add-in application with waits of its own, and the figures that show whether any wait is left. */
export interface AddinSetup extends Disposable {
  readonly app: Hono<GuardEnv>;
  readonly activeWaits: () => number;
}

export function addinSetup(server: TmuxServer, config: Partial<AddinAppConfig> = {}): AddinSetup {
  const waits = new WaitManager({ clock: systemClock, onListenerError: rethrow });
  return {
    app: addinApp(server, config, waits),
    activeWaits: () => waits.metrics().wait_active,
    [Symbol.dispose]: () => waits.close(),
  };
}

/** The same on a backend of its own, with a client. */
export interface AddinOn extends AsyncDisposable {
  readonly app: Hono<GuardEnv>;
  readonly client: AddinClient;
}

export async function addinOn(backend: Backend): Promise<AddinOn> {
  const running = await backend.start();
  const setup = addinSetup(running.server);
  return {
    app: setup.app,
    client: inProcess(setup.app),
    [Symbol.asyncDispose]: async () => {
      setup[Symbol.dispose]();
      await running.close();
    },
  };
}

const noWaits: AddinWaits = {
  checkPattern: () => Promise.reject(new AppError("UNSUPPORTED_PATTERN_ENGINE", "this test has no waits")),
  sendAndWait: () => Promise.reject(new AppError("UNSUPPORTED_PATTERN_ENGINE", "this test has no waits")),
};

/** An application for tests that wait for nothing, or bring waits of their own. */
export function addinApp(
  server: TmuxServer,
  config: Partial<AddinAppConfig> = {},
  waits: AddinWaits = noWaits,
): Hono<GuardEnv> {
  return createAddinApp({ server, waits, clock: systemClock, config: { ...addinConfig, ...config }, log: silentLog });
}
