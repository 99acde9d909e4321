import { expect, test } from "vitest";
import type { Log, LogLevel } from "../../../../daemon/ops/log.ts";
import { createLog } from "../../../../daemon/ops/log.ts";
import { AppError } from "../../../../protocol/errors.ts";

function collecting(level: LogLevel): { log: Log; lines: string[] } {
  const lines: string[] = [];
  return { lines, log: createLog({ level, write: (line) => void lines.push(line), nowUnixMs: () => 0 }) };
}

test("one JSON object per line: time, level, event, fields", () => {
  const { log, lines } = collecting("info");
  log.with({ adapter: "addin" }).info("http.listening", { port: 1, text: "a\nb" });
  expect(lines).toEqual([
    '{"t":"1970-01-01T00:00:00.000Z","level":"info","event":"http.listening","adapter":"addin","port":1,"text":"a\\nb"}\n',
  ]);
});

test("levels below the least are not written", () => {
  const { log, lines } = collecting("warn");
  log.debug("a.b");
  log.info("a.b");
  log.warn("a.b");
  log.error("a.b");
  expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(["warn", "error"]);
});

test("fields cannot pass themselves off as time, level or event", () => {
  const { log, lines } = collecting("info");
  log.info("real.event", { event: "forged.event", level: "error", t: "never" });
  expect(JSON.parse(lines[0] ?? "")).toEqual({ t: "1970-01-01T00:00:00.000Z", level: "info", event: "real.event" });
});

test("an error is its code, message and cause, a bug its stack as well; nothing else that hangs on it", () => {
  const { log, lines } = collecting("info");
  const cause = Object.assign(new Error("inner"), { secret: "s3cret" });
  log.error("a.b", { error: new AppError("TIMEOUT", "outer", { cause, details: { output: "s3cret" } }), big: 1n });
  const line = JSON.parse(lines[0] ?? "") as { error: { stack: string } };
  expect(line).toMatchObject({ error: { code: "TIMEOUT", message: "outer", cause: "inner" }, big: "1" });
  expect(line.error.stack).toBeUndefined();
  log.error("a.b", { error: new Error("bug") });
  log.error("a.b", { error: new AppError("INTERNAL_ERROR", "bug", { cause: new Error("bug") }) });
  for (const bug of lines.slice(1)) expect(bug).toContain("log.test.ts");
  expect(lines[0]).not.toContain("s3cret");
});

test("neither a writer that throws nor a value that JSON cannot carry reaches the caller", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  collecting("info").log.info("a.b", circular);
  const full = createLog({
    level: "info",
    nowUnixMs: () => 0,
    write: () => {
      throw new Error("disk full");
    },
  });
  expect(() => full.info("a.b")).not.toThrow();
});
