/** Which machines are served: a private file (`hosts.json` in the state directory), read at the start, replaced at a change. */
import { join } from "node:path";
import * as v from "valibot";
import { readPrivate, replacePrivate } from "../../daemon/ops/privateFiles.ts";
import { addHostSchema } from "../../protocol/api/nativeHosts.ts";
import { tryParse } from "../../protocol/api/parse.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";
import { AppError } from "../../protocol/errors.ts";

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

/** Higher numbers are of later versions. */
const VERSION = 1;
const MAX_BYTES = 1_048_576;
export const MAX_HOSTS = 200;

const fileSchema = v.object({
  version: v.literal(VERSION),
  hosts: v.pipe(v.array(addHostSchema), v.maxLength(MAX_HOSTS)),
});

/** @throws AppError CONFIGURATION_INVALID; the file stays as it is */
export function readHosts(path: string): readonly HostRecord[] {
  const found = readPrivate(path, { maxBytes: MAX_BYTES });
  if (found === undefined) return [];
  const parsed = tryParse(fileSchema, parseJson(found.text ?? ""));
  if (parsed.success) return parsed.output.hosts;
  throw new AppError(
    "CONFIGURATION_INVALID",
    `${path} is not a list of hosts of this version; move it away, and add them again with \`tmuxwire hosts add\``,
  );
}

export const writeHosts = (path: string, hosts: readonly HostRecord[]): void =>
  replacePrivate(path, `${JSON.stringify({ version: VERSION, hosts }, undefined, 2)}\n`);
