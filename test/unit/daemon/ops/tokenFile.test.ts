import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { readOrMakeToken, readToken } from "../../../../daemon/ops/tokenFile.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

const GOOD = "k".repeat(43);
let root: string;
let path: string;
beforeEach(() => {
  root = ownDirectory();
  path = join(root, "state", "tmuxwire", "token");
});

function write(text: string | Uint8Array, mode: number): void {
  mkdirSync(join(root, "state", "tmuxwire"), { recursive: true, mode: 0o700 });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

describe("a first start", () => {
  test("makes a token of 256 bits that only its owner can read, in a directory of its own", async () => {
    const token = await readOrMakeToken(path);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(readFileSync(path, "utf8")).toBe(`${token}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, "state", "tmuxwire")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(root, "state", "tmuxwire"))).toEqual(["token"]);
  });

  test("is not fooled by a generous umask", async () => {
    const before = process.umask(0);
    try {
      await readOrMakeToken(path);
    } finally {
      process.umask(before);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("at the same time as another one ends with one token for both", async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => readOrMakeToken(path)));
    expect(new Set(tokens).size).toBe(1);
    expect(readdirSync(join(root, "state", "tmuxwire"))).toEqual(["token"]);
  });

  test("is refused in a directory in which others may write", async () => {
    mkdirSync(join(root, "state", "tmuxwire"), { recursive: true });
    chmodSync(join(root, "state", "tmuxwire"), 0o777);
    await expect(readOrMakeToken(path)).rejects.toThrow(/is writable by others; run `chmod 700/);
    expect(readdirSync(join(root, "state", "tmuxwire"))).toEqual([]);
  });

  test("says when its place cannot be made", async () => {
    writeFileSync(join(root, "state"), "");
    await expect(readOrMakeToken(path)).rejects.toMatchObject({ code: "CONFIGURATION_INVALID" });
  });
});

describe("later ones", () => {
  test("read it, with or without the newline", async () => {
    write(`${GOOD}\n`, 0o600);
    expect(await readOrMakeToken(path)).toBe(GOOD);
    write(GOOD, 0o400);
    expect(await readToken(path)).toBe(GOOD);
  });

  test.each([0o640, 0o604, 0o660, 0o601, 0o644, 0o777])("refuse it with mode %o and leave it alone", async (mode) => {
    write(GOOD, mode);
    await expect(readOrMakeToken(path)).rejects.toMatchObject({
      code: "CONFIGURATION_INVALID",
      message: expect.stringMatching(/token is readable by others \(mode 0\d{3}\).*; remove it/) as string,
    });
    expect(existsSync(path)).toBe(true);
  });

  test.each([
    ["nothing", ""],
    ["too little", "k".repeat(31)],
    ["too much", "k".repeat(513)],
    ["a file of another kind", "root:x:0:0:root:/root:/bin/bash\n".repeat(200)],
    ["two words", `${GOOD} ${GOOD}`],
    ["a header's end", `${GOOD}\r\nX-Other: 1`],
    ["bytes that are no text", new Uint8Array(40).fill(0xff)],
  ])("refuse one that holds %s, without a word of what it holds", async (_what, text) => {
    write(text, 0o600);
    const refusal = readToken(path);
    await expect(refusal).rejects.toThrow(/holds no token/);
    await expect(refusal).rejects.not.toThrow(/root|kkk/);
  });

  test("refuse a symbolic link and a directory in its place", async () => {
    write(GOOD, 0o600);
    symlinkSync(path, join(root, "link"));
    await expect(readToken(join(root, "link"))).rejects.toThrow(/symbolic link/);
    await expect(readToken(root)).rejects.toThrow(/is not a regular file/);
  });

  test("a reader makes nothing", async () => {
    expect(await readToken(path)).toBeUndefined();
    expect(existsSync(join(root, "state"))).toBe(false);
  });
});
