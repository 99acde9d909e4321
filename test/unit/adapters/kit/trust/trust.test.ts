import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Certificate, CertificateSource } from "../../../../../adapters/kit/trust/certificates.ts";
import { nssFolders, trustInstructions } from "../../../../../adapters/kit/trust/trust.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

const certificate = (source: CertificateSource, authorityPath?: string): Certificate => ({
  key: "",
  cert: "",
  notAfterUnixMs: 0,
  source,
  authorityPath,
});

const FOLDERS = [{ path: "/home/u/pki", hasDatabase: true }];

test.each([
  ["darwin", /security add-trusted-cert .* '\/state\/rootCA\.pem'/],
  ["win32", /certutil -user -addstore Root "\/state\/rootCA\.pem"/],
  ["linux", /certutil -d 'sql:\/home\/u\/pki' -A .* -i '\/state\/rootCA\.pem'/],
] as const)("on %s it shows the command for our authority's file", (platform, command) => {
  expect(trustInstructions(platform, certificate("own", "/state/rootCA.pem"), FOLDERS)).toMatch(command);
});

test("a path is quoted for the shell that reads it", () => {
  const text = trustInstructions("linux", certificate("own", "/it's here/rootCA.pem"), FOLDERS);
  expect(text).toContain(`-i '/it'\\''s here/rootCA.pem'`);
});

test("mkcert's authority is trusted by mkcert, a given certificate by whoever gave it", () => {
  expect(trustInstructions("linux", certificate("mkcert", "/m/rootCA.pem"), [])).toMatch(
    /, \/m\/rootCA\.pem\.\n.*mkcert -install/,
  );
  expect(trustInstructions("linux", certificate("configured"), [])).toContain("was not made by tmuxwire");
});

test("a folder that has no database yet gets one first", () => {
  const text = trustInstructions("linux", certificate("own", "/ca.pem"), [{ path: "/new", hasDatabase: false }]);
  const [made, based, added] = ["mkdir -p '/new'", "certutil -d 'sql:/new' -N", "certutil -d 'sql:/new' -A"].map(
    (words) => text.indexOf(words),
  );
  expect(made).toBeGreaterThan(0);
  expect(based).toBeGreaterThan(made ?? Infinity);
  expect(added).toBeGreaterThan(based ?? Infinity);
});

test("one that has a database does not, and an authority without a file is named all the same", () => {
  expect(trustInstructions("linux", certificate("own", "/ca.pem"), FOLDERS)).not.toMatch(/mkdir|-N/);
  for (const source of ["own", "mkcert"] as const) {
    expect(trustInstructions("linux", certificate(source), FOLDERS)).toContain("rootCA.pem");
  }
});

test("Chromium's folders: the current one always, older ones that exist", () => {
  const home = ownDirectory();
  const older = join(home, ".pki", "nssdb");
  mkdirSync(older, { recursive: true });
  writeFileSync(join(older, "cert9.db"), "");
  expect(nssFolders(undefined, home)).toEqual([
    { path: join(home, ".local/share/pki/nssdb"), hasDatabase: false },
    { path: older, hasDatabase: true },
  ]);
});
