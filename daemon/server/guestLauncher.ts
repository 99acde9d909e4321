/**
 * The pty module leaves its descriptors open in whatever is started next, so each control client would hold the terminals
 * of those before it: one of ours that ends is then never hung up, and tmux 3.3a can wait in a read of it for ever, with
 * the user's whole server (client.c makes a leaving client's terminal blocking). A shell that closes every descriptor it
 * was not meant to have, and then becomes tmux, prevents that. Only bash can close descriptors above 9.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

const SCRIPT =
  'for f in /dev/fd/*; do n=${f##*/}; [ "$n" -gt 2 ] && eval "exec $n>&-"; done 2>/dev/null; exec "$0" "$@"';

/** Undefined where there is no bash. */
export function guestLauncher(env: Readonly<Record<string, string>>): readonly string[] | undefined {
  const bash = (env["PATH"] ?? "")
    .split(":")
    .filter((directory) => directory.startsWith("/"))
    .map((directory) => join(directory, "bash"))
    .find((path) => existsSync(path));
  return bash === undefined ? undefined : [bash, "--norc", "--noprofile", "-c", SCRIPT];
}
