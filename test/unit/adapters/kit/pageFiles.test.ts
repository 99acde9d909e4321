/** A page's files: which representation goes out, and by what a browser knows that it has it already. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { Hono } from "hono";
import { afterAll, expect, test } from "vitest";
import { PageFiles } from "../../../../adapters/kit/pageFiles.ts";
import type { GuardEnv } from "../../../../adapters/kit/guard/requestGuard.ts";

const SCRIPT = "console.log(1);\n".repeat(50);
const directory = mkdtempSync(join(tmpdir(), "tw-pageFiles-"));
for (const name of ["index.html", "page.js"]) {
  writeFileSync(join(directory, name), SCRIPT);
  writeFileSync(join(directory, `${name}.gz`), gzipSync(SCRIPT));
}
writeFileSync(join(directory, "icon.svg"), "<svg/>");
const app = new Hono<GuardEnv>();
for (const { path, handle } of new PageFiles(directory).routes(["/index.html"], "")) app.get(path, handle);
afterAll(() => rmSync(directory, { recursive: true }));

const get = (name: string, headers: Readonly<Record<string, string>> = {}) => app.request(`/${name}`, { headers });

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ["", false],
  ["gzip", true],
  ["gzip, deflate, br, zstd", true],
  ["GZIP;Q=1.0", true],
  ["x-gzip", true],
  ["*", true],
  ["*;q=0.1", true],
  ["br", false],
  ["gzip;q=0", false],
  ["gzip;q=0.000, *", false],
  ["*;q=0, gzip;q=0.5", true],
  ["identity, gzip;q=0.5", false],
  ["identity;q=0.5, gzip", true],
  ["identity;q=0", false],
  ["gzip;q=zap", false],
  ["gzip;q=0.05", true],
  ["gzip;q=1.00", true],
  ["gzip;q=0.1234", false],
  ["gzip;q=1.5", false],
  ["gzip;seq=1", false],
  ["identity, gzip", true],
])("with `Accept-Encoding: %s` a file comes compressed: %s", async (accepted, isPacked) => {
  for (const name of ["page.js", "index.html"]) {
    const response = await get(name, accepted === undefined ? {} : { "accept-encoding": accepted });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get("content-encoding")).toBe(isPacked ? "gzip" : null);
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect((isPacked ? gunzipSync(bytes) : bytes).toString()).toBe(SCRIPT);
  }
});

test("a file that the build has not compressed goes out as it is, and varies by nothing", async () => {
  const { headers } = await get("icon.svg", { "accept-encoding": "gzip" });
  expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([null, null]);
  expect((await get("page.js.gz")).status).toBe(404);
});

test("each representation has a tag of its own, and is not sent to whoever has it", async () => {
  const gzip = { "accept-encoding": "gzip" };
  const plainTag = (await get("page.js")).headers.get("etag") ?? "";
  const packedTag = (await get("page.js", gzip)).headers.get("etag") ?? "";
  expect(plainTag).not.toBe(packedTag);
  for (const tags of [packedTag, `W/${packedTag}`, `"x", W/${packedTag}`, '"x", *']) {
    const response = await get("page.js", { ...gzip, "if-none-match": tags });
    expect([response.status, await response.text()]).toEqual([304, ""]);
    expect(response.headers.get("etag")).toBe(packedTag);
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
    expect(response.headers.get("content-encoding")).toBe(null);
  }
  expect((await get("page.js", { ...gzip, "if-none-match": plainTag })).status).toBe(200);
  expect((await get("page.js", { "if-none-match": packedTag })).status).toBe(200);
  // The page itself is asked for each time.
  expect((await get("index.html", { ...gzip, "if-none-match": "*" })).status).toBe(200);
});

test("without a build the page says so, and there is no other file", async () => {
  const none = new Hono<GuardEnv>();
  const files = new PageFiles(join(directory, "none"));
  for (const { path, handle } of files.routes(["/index.html"], "")) none.get(path, handle);
  const page = await none.request("/index.html");
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("npm run build")]);
  expect((await none.request("/page.js")).status).toBe(404);
});
