/** Which machines are served: a private file (`hosts.json` in the state directory), read at the start, replaced at a change. */
import { join } from "node:path";
import type * as v from "valibot";
import { privateList } from "../../daemon/ops/privateList.ts";
import { addHostSchema } from "../../protocol/api/native/nativeHosts.ts";

/** What a machine is called here, and how ssh gets there. */
export type HostRecord = v.InferOutput<typeof addHostSchema>;

/**
 * Its folder for sockets, and the socket through which a person has logged in (`tmuxwire hosts login`).
 * @param socketPath the daemon's own, which no other daemon has
 */
export const hostPlaces = (socketPath: string, name: string) => ({
  directory: join(`${socketPath}.hosts`, name),
  loginPath: join(`${socketPath}.logins`, name),
});

export const MAX_HOSTS = 200;

export const { read: readHosts, write: writeHosts } = privateList({
  member: "hosts",
  item: addHostSchema,
  maxItems: MAX_HOSTS,
  title: "hosts",
  addedWith: "tmuxwire hosts add",
});
