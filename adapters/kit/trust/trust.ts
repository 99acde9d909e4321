/**
 * How a person makes their system trust the certificates that we sign: the text of the `trust` command. Changing a trust
 * store needs an administrator and a system program, so the commands are shown, never run.
 */
import type { Certificate } from "./certificates.ts";
import type { NssFolder } from "./nssFolders.ts";

/** What to do about `certificate` on `platform`, as text for a terminal. `folders`: Chromium's, on Linux. */
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
        "tmuxwire did not make the certificate in use: trust it as its maker says.",
        "If mkcert made it, `mkcert -install` is all it takes.",
        "",
      ].join("\n");
    case "mkcert":
      return [
        `The certificate in use is signed by mkcert's authority, ${path ?? "rootCA.pem"}.`,
        "If the browser does not trust it yet, run: mkcert -install",
        "",
      ].join("\n");
    case "own":
      return [
        `The certificate in use is signed by an authority made on this machine: ${path ?? "rootCA.pem"}`,
        "It can vouch for localhost, 127.* and ::1 only. To trust it:",
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
      "With the daemon inside WSL, copy the file to Windows first and run this in a Windows terminal.",
    ];
  }
  const quoted = shellQuoted(path);
  if (platform === "darwin") {
    return [
      `security add-trusted-cert -r trustRoot -p ssl -k ~/Library/Keychains/login.keychain-db ${quoted}`,
      "",
      "Excel for Mac and Safari use the login keychain; Firefox needs",
      "security.enterprise_roots.enabled = true in about:config.",
    ];
  }
  return [
    "Chrome, Edge (needs certutil, from the package libnss3-tools or nss-tools):",
    ...folders.flatMap((folder) => nssCommands(folder, quoted)),
    "The system, for curl and others, on Debian and Ubuntu:",
    `  sudo cp ${quoted} /usr/local/share/ca-certificates/tmuxwire.crt && sudo update-ca-certificates`,
    "On Fedora and Red Hat:",
    `  sudo trust anchor ${quoted}`,
    "Firefox: Settings → Certificates → Authorities → Import.",
  ];
}

/** Separate commands, without syntax that differs between shells. */
function nssCommands({ path, hasDatabase }: NssFolder, authority: string): string[] {
  const folder = shellQuoted(path);
  const database = shellQuoted(`sql:${path}`);
  return [
    ...(hasDatabase ? [] : [`  mkdir -p ${folder}`, `  certutil -d ${database} -N --empty-password`]),
    `  certutil -d ${database} -A -t C,, -n tmuxwire -i ${authority}`,
  ];
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
