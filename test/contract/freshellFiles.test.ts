/** `/api/files` and `/device/` on a stub server: what may be read and written, and what never is (docs/contracts/freshell.md). */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FileResponse, MAX_FILE_BYTES } from "../../protocol/api/freshell/freshellFiles.ts";
import { FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { stubServer } from "../support/daemon/nativeServer.ts";
import { sendRaw } from "../support/daemon/nativeRaw.ts";
import { ownDirectory } from "../support/daemon/ownDirectory.ts";

let freshell: FreshellFixture;
let root: string;
let home: string;
let elsewhere: string;
let pages: string;
beforeEach(async () => {
  root = realpathSync(ownDirectory());
  [home, elsewhere, pages] = [join(root, "home"), join(root, "elsewhere"), join(root, "pages")];
  for (const folder of [home, elsewhere, pages]) mkdirSync(folder);
  writeFileSync(join(elsewhere, "secret"), "secret");
  writeFileSync(join(pages, "index.html"), "<!doctype html>");
  writeFileSync(join(pages, "page.js"), "export {};");
  freshell = await FreshellFixture.start(stubServer(), { app: { homeDir: home, pageDirectory: pages } });
});
afterEach(async () => {
  await freshell[Symbol.asyncDispose]();
});

const read = (path: string) => freshell.call("GET", `/api/files?path=${encodeURIComponent(path)}`);
const write = (path: string, text: string, etag: string | null) =>
  freshell.call("POST", "/api/files", { path, text, etag });
const list = (path: string) => freshell.call("GET", `/api/files/list?path=${encodeURIComponent(path)}`);
const refusal = async (answer: ReturnType<typeof read>) => {
  const { status, json } = await answer;
  const { code, details } = (json as { error: { code: string; details?: Record<string, unknown> } }).error;
  return [status, code, details?.["reason"] ?? details?.["limit"]];
};
const FORBIDDEN = [403, "UNAUTHORIZED", "outside"];

describe("F244: files", () => {
  test("a file is read and written, and its etag changes with its content", async () => {
    const path = join(home, "notes.md");
    writeFileSync(path, "one\r\ntwo 🌊\n\ufeff");
    chmodSync(path, 0o640);
    const first = (await read("~/notes.md")).json as unknown as FileResponse;
    expect(first).toMatchObject({ path, text: "one\r\ntwo 🌊\n\ufeff", bytes: statSync(path).size });
    const second = (await write("~/notes.md", "three\n", first.etag)).json as unknown as FileResponse;
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["three\n", 0o640]);
    expect(second.etag).not.toBe(first.etag);
    expect((await read(path)).json).toMatchObject({ etag: second.etag, text: "three\n" });
    expect(readdirSync(home)).toEqual(["notes.md"]);
  });

  test("a file that was changed or created meanwhile is not overwritten", async () => {
    const path = join(home, "notes.md");
    writeFileSync(path, "one");
    const { etag } = (await read(path)).json as unknown as FileResponse;
    appendFileSync(path, " theirs");
    expect(await refusal(write(path, "mine", etag))).toEqual([409, "REVISION_CONFLICT", "file_changed"]);
    expect(await refusal(write(path, "mine", null))).toEqual([409, "REVISION_CONFLICT", "file_changed"]);
    rmSync(path);
    expect(await refusal(write(path, "mine", etag))).toEqual([409, "REVISION_CONFLICT", "file_changed"]);
    expect(readdirSync(home)).toEqual([]);
    expect((await write(path, "mine", null)).status).toBe(200);
    expect(readFileSync(path, "utf8")).toBe("mine");
  });

  test("one of many concurrent writes of the same file succeeds", async () => {
    const path = join(home, "notes.md");
    writeFileSync(path, "one");
    const { etag } = (await read(path)).json as unknown as FileResponse;
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => write(path, `by ${at}`, etag)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 409),
    ]);
  });

  test("other names of a file, and links to it within, stay what they are", async () => {
    const path = join(home, "notes.md");
    writeFileSync(path, "one");
    linkSync(path, join(home, "other"));
    symlinkSync("notes.md", join(home, "link"));
    const { etag, path: real } = (await read("~/link")).json as unknown as FileResponse;
    expect(real).toBe(path);
    expect((await write("~/link", "two", etag)).status).toBe(200);
    expect([readFileSync(join(home, "other"), "utf8"), statSync(path).nlink]).toEqual(["two", 2]);
    expect((await list("~")).json).toEqual({
      path: home,
      entries: ["link", "notes.md", "other"].map((name) => ({ name, kind: "file" })),
      cut: false,
    });
  });

  test("paths outside are refused alike, whether they exist or not", async () => {
    symlinkSync(elsewhere, join(home, "out"));
    symlinkSync(join(elsewhere, "secret"), join(home, "direct"));
    symlinkSync("loop", join(home, "loop"));
    const paths = [
      join(elsewhere, "secret"),
      join(elsewhere, "missing"),
      join(home, "out/secret"),
      join(home, "out/new"),
      join(home, "direct"),
      join(home, "loop"),
      join(home, "../elsewhere/secret"),
      `${home}x/secret`,
      "~/../elsewhere/secret",
      "/etc/passwd",
      "/",
      "/proc/self/environ",
    ];
    for (const path of paths) {
      expect([path, ...(await refusal(read(path)))]).toEqual([path, ...FORBIDDEN]);
      expect([path, ...(await refusal(write(path, "x", null)))]).toEqual([path, ...FORBIDDEN]);
      expect([path, ...(await refusal(list(path)))]).toEqual([path, ...FORBIDDEN]);
    }
    expect(readdirSync(elsewhere)).toEqual(["secret"]);
    expect(readFileSync(join(elsewhere, "secret"), "utf8")).toBe("secret");
  });

  test("a file that is not text, too long or missing is refused at once", async () => {
    expect(spawnSync("mkfifo", [join(home, "fifo")]).status).toBe(0);
    mkdirSync(join(home, "folder"));
    writeFileSync(join(home, "bytes"), Buffer.from([0x66, 0xff, 0x00]));
    writeFileSync(join(home, "huge"), "");
    truncateSync(join(home, "huge"), 1_073_741_824);
    writeFileSync(join(home, "most"), "x".repeat(MAX_FILE_BYTES));
    const wrong = [400, "INVALID_TARGET"] as const;
    for (const [name, expected] of [
      ["fifo", [...wrong, "not_a_file"]],
      ["folder", [...wrong, "not_a_file"]],
      ["bytes", [...wrong, "not_text"]],
      ["huge", [429, "RESOURCE_LIMIT", "fileBytes"]],
      ["bytes/x", FORBIDDEN],
      ["missing", [404, "NOT_FOUND", undefined]],
      ["missing/x", [404, "NOT_FOUND", undefined]],
    ] as const) {
      const [status, ...rest] = await refusal(read(`~/${name}`));
      expect([name, ...rest]).toEqual([name, ...expected.slice(1)]);
      expect(status).toBeGreaterThanOrEqual(400);
    }
    expect((await read("~/most")).status).toBe(200);
    const longer = "x".repeat(MAX_FILE_BYTES + 1);
    expect((await refusal(write("~/new", longer, null))).slice(1)).toEqual(["RESOURCE_LIMIT", "fileBytes"]);
    expect((await refusal(write("~/bytes", "x", null))).slice(1)).toEqual(["INVALID_TARGET", "not_text"]);
    expect((await refusal(write("~/fifo", "x", null))).slice(1)).toEqual(["INVALID_TARGET", "not_a_file"]);
    expect((await refusal(list("~/fifo"))).slice(1)).toEqual(["INVALID_TARGET", "not_a_file"]);
  });

  test("invalid paths and bodies are refused", async () => {
    for (const path of ["", "notes.md", "./x", "~other/x", "a\0b", "/x\ny", `/${"x".repeat(5_000)}`]) {
      expect((await refusal(read(path))).slice(0, 2)).toEqual([400, "INVALID_ARGUMENT"]);
    }
    for (const body of [
      {},
      { path: "~/x" },
      { path: "~/x", text: 1, etag: null },
      { path: "~/x", text: "", etag: null, more: 1 },
    ]) {
      expect((await freshell.call("POST", "/api/files", body)).status).toBe(400);
    }
    expect((await freshell.call("GET", "/api/files")).status).toBe(400);
    expect((await freshell.call("GET", "/api/files?path=~&path=~")).status).toBe(400);
    expect((await freshell.call("GET", "/api/files?path=~", undefined, {})).status).toBe(401);
    expect((await freshell.call("POST", "/api/files", { path: "~/x", text: "", etag: null }, {})).status).toBe(401);
    expect(readdirSync(home)).toEqual([]);
  });
});

describe("F244: the page's files", () => {
  test("the page's files are served by name, without a token, and not in a frame", async () => {
    for (const path of ["/device/", "/device", "/device/page.js"]) {
      const response = await fetch(`${freshell.url}${path}`);
      expect([path, response.status]).toEqual([path, 200]);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toContain("unsafe");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    }
    const { etag } = Object.fromEntries((await fetch(`${freshell.url}/device/page.js`)).headers);
    const again = await fetch(`${freshell.url}/device/page.js`, { headers: { "if-none-match": etag ?? "" } });
    expect(again.status).toBe(304);
  });

  test.each(["/device/../../etc/passwd", "/device/missing.js"])("%s is not found", async (path) => {
    const headers = { host: `127.0.0.1:${freshell.port}` };
    expect((await sendRaw(freshell.port, { method: "GET", path, headers })).status).toBe(404);
  });
});
