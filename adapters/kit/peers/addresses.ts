/**
 * Checks that a request comes from this machine: the peer's address as the kernel gives it, and the host name the request
 * is addressed to. The Host check stops DNS rebinding: a page of another site can point its own name at 127.0.0.1, but not
 * send another name.
 */

/** True for `::1`, `127.*` and the latter as an IPv4-mapped address. An unknown peer is not a loopback peer. */
export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false;
  const ipv4 = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  return address === "::1" || (ipv4.startsWith("127.") && isIpv4(ipv4));
}

const isIpv4 = (text: string): boolean => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text);

/** The host of a `Host` header in lower case, without port and brackets; undefined if it is not `host[:port]`. */
export function hostnameOf(header: string | undefined): string | undefined {
  const match = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,253}))(?::\d{1,5})?$/i.exec(header ?? "");
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

/** Whether a request may be addressed to this host: a name or address of the loopback interface, or a configured one. */
export function isAllowedHost(header: string | undefined, configured: ReadonlySet<string>): boolean {
  const hostname = hostnameOf(header);
  if (hostname === undefined) return false;
  return hostname === "localhost" || isLoopbackAddress(hostname) || configured.has(hostname);
}

/** A host as a URL writes it: IPv6 addresses in brackets. */
export const urlHost = (host: string): string => (host.includes(":") ? `[${host}]` : host);
