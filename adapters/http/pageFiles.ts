/**
 * A page's files, read once from the build's output and cached: a handful of small files with fixed names. No part of a
 * request becomes a path.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Context } from "hono";
import type { GuardEnv } from "./requestGuard.ts";

/** What a page may do: load its own files, talk to this server, and nothing else. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".webmanifest": "application/manifest+json",
};

interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export class PageFiles {
  readonly #files = new Map<string, PageFile>();
  readonly #policy: string;

  /**
   * @param directory where `index.html` is; a missing one has no files.
   * @param allowed further directives of its policy
   */
  constructor(directory: string, allowed: readonly string[] = []) {
    this.#policy = [...PAGE_POLICY, ...allowed].join("; ");
    let names: string[];
    try {
      names = readdirSync(directory);
    } catch {
      return;
    }
    for (const name of names) {
      const type = TYPES[extname(name)];
      if (type === undefined) continue;
      const bytes = new Uint8Array(readFileSync(join(directory, name)));
      const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
      this.#files.set(name, { type, bytes, etag });
    }
  }

  /** @param name `index.html`, or another file beside it. */
  respond(c: Context<GuardEnv>, name: string): Response {
    const file = this.#files.get(name);
    if (file === undefined) {
      const missing = "The page has not been built: run `npm run build`, then start tmuxwire again.\n";
      return name === "index.html" ? c.text(missing, 503) : c.text("Not found.\n", 404);
    }
    const isHtml = name === "index.html";
    const headers = {
      "Content-Security-Policy": this.#policy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      // Assets are revalidated each time, and sent only when they have changed.
      "Cache-Control": isHtml ? "no-store" : "no-cache",
      ...(isHtml ? {} : { ETag: file.etag }),
    };
    if (!isHtml && c.req.header("if-none-match") === file.etag) return c.body(null, 304, headers);
    return c.body(file.bytes, 200, { ...headers, "Content-Type": file.type });
  }
}
