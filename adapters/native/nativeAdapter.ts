import { SERVER_FLAGS } from "../../daemon/ops/daemonConfig.ts";
import { defineAdapter } from "../serving/adapter.ts";
import { NATIVE_FLAGS, readNative } from "./nativeConfig.ts";

export const nativeAdapter = defineAdapter({
  name: "native",
  title: "the native API",
  flags: [...NATIVE_FLAGS, ...SERVER_FLAGS],
  readConfig: readNative,
  checks: async (config, inputs) => (await import("./nativeChecks.ts")).nativeChecks(config, inputs),
  requireFree: async (config, context) => (await import("./serveNative.ts")).requireNoOther(config, context),
  start: async (config, context) => (await import("./serveNative.ts")).startNative(config, context),
  carriesMounts: true,
});
