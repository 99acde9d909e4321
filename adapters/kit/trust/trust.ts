/**
 * The text of the `trust` command: how to make this system trust the certificates that we sign. Changing a trust store
 * needs an administrator and a system program, so the commands are printed, never run.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { baseDir } from "../../../daemon/ops/runtimePaths.ts";
import { shellWord } from "../../../protocol/text/shellWord.ts";
import type { Certificate } from "./certificates.ts";

/**
 * Where Chromium-based browsers keep trusted certificates on Linux. Current ones use `pki/nssdb` under `$XDG_DATA_HOME`,
 * unless `~/.pki/nssdb` exists; older ones know only the latter and create it at their first start.
 */
interface NssFolder {
  readonly path: string;
  /** If false, the folder and its database must be created before certutil can add to it. */
  readonly hasDatabase: boolean;
}

/** Always the current folder, and each of the others that exists. */
export function nssFolders(xdgDataHome: string | undefined, homeDir: string): NssFolder[] {
  const data = baseDir(xdgDataHome, join(homeDir, ".local", "share"));
  const others = [join(homeDir, ".pki", "nssdb"), join(homeDir, "snap", "chromium", "current", ".pki", "nssdb")];
  return [join(data, "pki", "nssdb"), ...others.filter((path) => existsSync(path))].map((path) => ({
    path,
    hasDatabase: existsSync(join(path, "cert9.db")),
  }));
}

/** How to trust `certificate` on `platform`, as text for a terminal. `folders`: Chromium's, on Linux. */
export function trustInstructions(
  platform: NodeJS.Platform,
  certificate: Certificate,
  folders: readonly NssFolder[],
): string {
  const path = certificate.authorityPath;
  switch (certificate.source) {
    case "configured":
    case "bridge":
      return [
        "The certificate in use was not made by tmuxwire: trust it as its maker documents.",
        "If mkcert made it, run `mkcert -install`.",
        "",
      ].join("\n");
    case "mkcert":
      return [
        `The certificate in use is signed by mkcert's authority, ${path ?? "rootCA.pem"}.`,
        "If the browser does not trust it yet, run `mkcert -install`.",
        "",
      ].join("\n");
    case "own":
      return [
        `The certificate in use is signed by an authority made on this machine: ${path ?? "rootCA.pem"}`,
        "It can sign for localhost, 127.* and ::1 only. To trust it:",
        "",
        ...commandsFor(platform, path ?? "rootCA.pem", folders).map((line) => `  ${line}`),
        "",
        "Then restart the browser or Office.",
        "",
      ].join("\n");
  }
}

function commandsFor(platform: NodeJS.Platform, path: string, folders: readonly NssFolder[]): string[] {
  if (platform === "win32") {
    return [
      `certutil -user -addstore Root "${path}"`,
      "",
      "If the daemon runs inside WSL, copy the file to Windows first and run this in a Windows terminal.",
    ];
  }
  const quoted = shellWord(path);
  if (platform === "darwin") {
    return [
      `security add-trusted-cert -r trustRoot -p ssl -k ~/Library/Keychains/login.keychain-db ${quoted}`,
      "",
      "Excel for Mac and Safari use the login keychain; Firefox needs",
      "security.enterprise_roots.enabled = true in about:config.",
    ];
  }
  return [
    "For Chrome and Edge (needs certutil, from the package libnss3-tools or nss-tools):",
    ...folders.flatMap((folder) => nssCommands(folder, quoted)),
    "For curl and other programs, on Debian and Ubuntu:",
    `  sudo cp ${quoted} /usr/local/share/ca-certificates/tmuxwire.crt && sudo update-ca-certificates`,
    "For the same on Fedora and Red Hat:",
    `  sudo trust anchor ${quoted}`,
    "For Firefox: Settings → Certificates → Authorities → Import.",
  ];
}

/** One command per line, without syntax that differs between shells. */
function nssCommands({ path, hasDatabase }: NssFolder, authority: string): string[] {
  const folder = shellWord(path);
  const database = shellWord(`sql:${path}`);
  return [
    ...(hasDatabase ? [] : [`  mkdir -p ${folder}`, `  certutil -d ${database} -N --empty-password`]),
    `  certutil -d ${database} -A -t C,, -n tmuxwire -i ${authority}`,
  ];
}
