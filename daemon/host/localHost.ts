/** This machine as a `Host`. */
import { darwinHost } from "./darwin/darwinHost.ts";
import type { Host } from "./host.ts";
import { linuxHost } from "./linux/linuxHost.ts";
import { unknownHost } from "./unknownHost.ts";

export function localHost(platform: string = process.platform): Host {
  if (platform === "linux") return linuxHost();
  return platform === "darwin" ? darwinHost() : unknownHost();
}
