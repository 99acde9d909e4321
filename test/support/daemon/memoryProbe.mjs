// oxlint-disable typescript/no-unsafe-assignment -- plain JavaScript: `process` and `gc` have no types here
/**
 * Loaded before the executable (`--expose-gc --import`), so that a test can ask the daemon itself, over IPC, what it holds
 * once its garbage is gone. It keeps nothing alive and responds to nothing else.
 */
import { readdirSync } from "node:fs";

process.on("message", () => {
  // Twice: what a first collection finalizes is freed by the second.
  globalThis.gc();
  globalThis.gc();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const descriptors = readdirSync("/proc/self/fd").length;
  process.send({ rss, heapUsed, arrayBuffers, descriptors, cpuMs: (user + system) / 1_000 });
});
process.channel.unref();
