/**
 * A device's login: a token that lives for minutes, and a refresh token that works once. All processes or pages of a device
 * share it and renew it one at a time. The server's own token is never stored.
 */
import type { DeviceSessionResponse } from "../../../protocol/api/freshell/freshellHttp.ts";

/** Renewed when it expires within this, so that it stays valid while a request briefly waits for its response. */
const RENEW_BEFORE_MS = 60_000;

export type Tokens = Pick<DeviceSessionResponse, "deviceToken" | "refreshToken" | "expiresAt">;

interface DeviceLoginOptions<Login extends Tokens> {
  /** As stored by whichever renewed it last. @throws what says that a login is needed */
  readonly stored: () => Login;
  /** Exchanges the refresh token for new ones, and stores them. */
  readonly renew: (login: Login) => Promise<Login>;
  /** A mutex across the processes or pages of the device. */
  readonly alone: <Result>(run: () => Promise<Result>) => Promise<Result>;
  readonly nowUnixMs: () => number;
}

/**
 * A login whose token is valid.
 * @param refused a token that the server did not accept: its own token has changed, or it has lost our session
 */
export async function validLogin<Login extends Tokens>(
  { stored, renew, alone, nowUnixMs }: DeviceLoginOptions<Login>,
  refused?: string,
): Promise<Login> {
  const isValid = ({ deviceToken, expiresAt }: Login): boolean =>
    deviceToken !== refused && expiresAt - nowUnixMs() >= RENEW_BEFORE_MS;
  const known = stored();
  if (isValid(known)) return known;
  return alone(() => {
    // Another process or page may have renewed it meanwhile.
    const latest = stored();
    return isValid(latest) ? Promise.resolve(latest) : renew(latest);
  });
}
