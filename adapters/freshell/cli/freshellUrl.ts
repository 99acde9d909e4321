/** Where the server is: `FRESHELL_URL`, else where this device is logged in, else a server's default port. */
import { AppError } from "../../../protocol/errors.ts";

const DEFAULT_URL = "http://127.0.0.1:3001";
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Without a trailing slash. @throws AppError INVALID_ARGUMENT */
export function serverUrl(given: string | undefined, loggedInAt: string | undefined): string {
  if (given === undefined || given === "") return loggedInAt ?? DEFAULT_URL;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isBare = url?.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (url !== undefined && isBare && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, "");
  // Not quoted: a token in it could end up in a log.
  throw new AppError(
    "INVALID_ARGUMENT",
    "FRESHELL_URL is not a server's URL: give http://HOST:PORT or https://HOST:PORT, without user, query or fragment",
  );
}

/** Whether both are the same server: loopback has several names. */
export function isSameServer(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  const bothHere = LOOPBACK.test(a.hostname) && LOOPBACK.test(b.hostname);
  const rest = ({ protocol, port, pathname }: URL): string => [protocol, port, pathname].join(" ");
  return rest(a) === rest(b) && (bothHere || a.hostname === b.hostname);
}
