/** The machine that we run on. */
import type { Host } from "./host.ts";
import { linuxHost } from "./linuxHost.ts";
import { unknownHost } from "./unknownHost.ts";

export const localHost = (platform: string = process.platform): Host =>
  platform === "linux" ? linuxHost() : unknownHost();
