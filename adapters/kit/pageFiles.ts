/**
 * A page's files, read once from the build's output and cached: a few small files with fixed names, plain and as compressed
 * by the build. No part of a request becomes a file path.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { Context } from "hono";
import type { GuardEnv } from "./guard/requestGuard.ts";
import type { Route } from "./guard/routes.ts";

/** A page may load its own files and connect to this server, and nothing else. */
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
  readonly plain: Representation;
  readonly packed: Representation | undefined;
}

interface Representation {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

export class PageFiles {
  readonly #files = new Map<string, PageFile>();
  readonly #policy: string;

  /**
   * @param directory that holds `index.html`; if it is missing there are no files.
   * @param allowed further directives of the content security policy
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
      const read = (file: string): Representation | undefined => {
        if (!names.includes(file)) return undefined;
        const bytes = new Uint8Array(readFileSync(join(directory, file)));
        return { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` };
      };
      const plain = read(name);
      if (plain !== undefined) this.#files.set(name, { type, plain, packed: read(`${name}.gz`) });
    }
  }

  /**
   * Served to everyone: a page holds no secret.
   * @param index the paths of `index.html`
   * @param folder the path of the files beside it
   */
  routes(index: readonly string[], folder: string): readonly Route[] {
    const row = { method: "GET", auth: false, head: true, errors: [] } as const;
    return [
      ...index.map((path): Route => ({
        ...row,
        path,
        linkable: true,
        response: { 200: "text/html", 304: "none", 503: "text/plain" },
        handle: (c) => this.#respond(c, "index.html"),
      })),
      {
        ...row,
        path: `${folder}/:file{[A-Za-z0-9._-]+}`,
        response: { 200: "*/*", 304: "none", 404: "text/plain" },
        handle: (c) => this.#respond(c, c.req.param("file") ?? ""),
      },
    ];
  }

  #respond(c: Context<GuardEnv>, name: string): Response {
    const file = this.#files.get(name);
    if (file === undefined) {
      const missing = "The page has not been built: run `npm run build`, then restart tmuxwire.\n";
      return name === "index.html" ? c.text(missing, 503) : c.text("Not found.\n", 404);
    }
    const isHtml = name === "index.html";
    const packed = takesGzip(c.req.header("accept-encoding")) ? file.packed : undefined;
    const { bytes, etag } = packed ?? file.plain;
    const headers = {
      "Content-Security-Policy": this.#policy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      // Assets are revalidated each time and sent only if they have changed.
      "Cache-Control": isHtml ? "no-store" : "no-cache",
      ...(file.packed === undefined ? {} : { Vary: "Accept-Encoding" }),
      ...(isHtml ? {} : { ETag: etag }),
    };
    if (!isHtml && holdsTag(c.req.header("if-none-match"), etag)) return c.body(null, 304, headers);
    const encoding = packed === undefined ? {} : { "Content-Encoding": "gzip" };
    return c.body(bytes, 200, { ...headers, ...encoding, "Content-Type": file.type });
  }
}

/** RFC 9110 §12.5.3; a browser that accepts gzip prefers it. */
function takesGzip(accepted: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const entry of accepted?.split(",") ?? []) {
    const [coding = "", weight = "q=1"] = entry.split(";").map((part) => part.trim().toLowerCase());
    weights.set(coding, /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0);
  }
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
}

const holdsTag = (tags: string | undefined, etag: string): boolean =>
  tags?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*") === true;
