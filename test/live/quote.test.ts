/** The encoder against tmux itself: what goes in comes out, byte for byte, and nothing in it is ever executed. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ControlConnection } from "../../daemon/connection/controlConnection.ts";
import { introduce } from "../../daemon/connection/tmuxFeatures.ts";
import { openPtyTransport } from "../../daemon/host/clients/ptyTransport.ts";
import * as build from "../../protocol/command/build.ts";
import { isQuotable, quote, quoteLiteralFormat } from "../../protocol/command/encode.ts";

const ENV = { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", LANG: "C.UTF-8", HOME: "/", SHELL: "/bin/sh" };
const COUNT = 3_000;

let directory: string;
let socket: string;
let connection: ControlConnection;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tmuxwire-quote-"));
  socket = join(directory, "sock");
  connection = new ControlConnection({
    open: openPtyTransport,
    spawn: {
      tmux: "tmux",
      args: ["-u", "-S", socket, "-f", "/dev/null", "new-session", "-s", "home", "cat"],
      env: ENV,
      cwd: "/",
    },
    onOutput: () => undefined,
    onNotification: () => undefined,
    onChunkEnd: () => undefined,
    onClosed: () => undefined,
  });
  await introduce(connection);
});

afterAll(() => {
  connection.close();
  spawnSync("tmux", ["-S", socket, "kill-server"], { env: ENV });
  rmSync(directory, { recursive: true, force: true });
});

const canary = (): string => join(directory, "canary");

/** Words that mean something to tmux or to a shell, and what may stand between them. */
const hostile = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 6 }).map((made) => made.replaceAll("\0", "")) },
      {
        weight: 5,
        arbitrary: fc.constantFrom(
          ...[
            ["\n", "\r\n", "'", '"', "`", "\\", "\\\\", "\\n", "\\012", "$", "$HOME", "$(touch CANARY)", "${HOME}"],
            ["`touch CANARY`", "#", "##", "#(touch CANARY)", "#{pid}", "#[fg=red]", "#S", "#,", "#}", "%", "%H", "%%"],
            ["%1", "%end 1 2 1", "%exit", ";", " ; ", "\\;", "kill-server", "\n\n", "-", "--", "-t", "~", "~root", "{"],
            Array.from("}[=:. \té漢🙂\u0301\u0085\u2028\ufeff"),
            ["👩‍👩‍👧", "@0", "X=1"],
          ].flat(),
        ),
      },
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join("").replaceAll("CANARY", canary()));

const sampled = (count: number): string[] => fc.sample(hostile, count);

describe("quote", () => {
  test("thousands of strings come back from a buffer as they went in", async () => {
    const texts = sampled(COUNT).filter((text) => text !== "");
    const file = join(directory, "saved");
    const replies: Promise<unknown>[] = [];
    for (const [index, text] of texts.entries()) {
      replies.push(connection.command(build.setBuffer(`b${index}`, Buffer.from(text), false), "none"));
      replies.push(connection.command(`save-buffer -a -b b${index} -- ${quote(file)}`, "none"));
      replies.push(connection.command(build.deleteBuffer(`b${index}`), "none"));
    }
    await Promise.all(replies);
    expect(readFileSync(file).equals(Buffer.from(texts.join("")))).toBe(true);
  });

  test("any bytes but NUL and 0xFF come back as they went in", async () => {
    const pieces = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 40 }), 1_000).filter(isQuotable);
    pieces.push(Uint8Array.from({ length: 254 }, (_unused, index) => index + 1));
    expect(pieces.length).toBeGreaterThan(700);
    const file = join(directory, "bytes");
    await Promise.all(
      pieces.map((bytes, index) => connection.command(build.setBuffer("all", bytes, index > 0), "none")),
    );
    await connection.command(`save-buffer -b all -- ${quote(file)}`, "none");
    expect(readFileSync(file).equals(Buffer.concat(pieces))).toBe(true);
  });
});

describe("quoteLiteralFormat", () => {
  test("thousands of strings come back from display-message as they went in", async () => {
    // tmux 3.4 and 3.5 print control characters as `\\001`, which a text may be as well.
    const probe = await connection.foreign(() => `display-message -p "\\001"`);
    const isPlain = Buffer.from(probe.body).toString() === "\u0001\n";
    const texts = sampled(COUNT).filter((text) => isPlain || !/[^\P{Cc}\t\n]/u.test(text));
    expect(texts.length).toBeGreaterThan(COUNT / 4);
    const replies = await Promise.all(
      texts.map((text) =>
        // `display-message` alone also reads `%` as strftime does, so it is doubled here.
        connection.foreign(() => `display-message -p -- ${quoteLiteralFormat(text.replaceAll("%", "%%"))}`),
      ),
    );
    const wrong = texts.filter((text, index) => Buffer.from(replies[index]!.body).toString() !== `${text}\n`);
    expect(wrong).toEqual([]);
  });

  test("a session's directory and name are taken literally", async () => {
    const names = [
      "#(touch CANARY)",
      "$(touch CANARY)",
      "`touch CANARY`",
      "#{pid}",
      "a #[x] '\"; b",
      "-n",
      "%H ~ $HOME",
    ];
    for (const name of names.map((template) => template.replace("CANARY", canary()))) {
      // A path of several directories where the name holds slashes.
      const cwd = join(directory, name);
      mkdirSync(cwd, { recursive: true });
      const request = { name, cwd, command: ["cat"], cols: 80, rows: 24, format: "#{session_id}" };
      const made = await connection.command(build.newSession(request));
      const id = quote(Buffer.from(made.body).toString().trim());
      // Not where the program is now: it may not have begun yet. tmux 3.2 does not know where a pane began.
      const { body } = await connection.foreign(
        () =>
          `display-message -p -t ${id} "\\043S\\012\\043{?pane_start_path,\\043{pane_start_path},\\043{session_path}}"`,
      );
      // Not every character of a name is kept: adapters use the name that tmux reports.
      const reported = connection.features.sessionName(name);
      expect(Buffer.from(body).toString()).toBe(`${reported}\n${cwd}\n`);
      await connection.command(`kill-session -t ${id}`, "none");
    }
  });

  test("none of the text was executed, although unescaped text would have been", async () => {
    const alive = join(directory, "alive");
    await connection.command(build.displayMessage(`#(touch ${alive}; tmux -S ${socket} wait-for -S ran)`));
    spawnSync("tmux", ["-S", socket, "wait-for", "ran"], { env: ENV, timeout: 10_000 });
    expect(existsSync(alive)).toBe(true);
    expect(existsSync(canary())).toBe(false);
  });
});
