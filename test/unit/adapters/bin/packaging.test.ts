/** What packagers are given is what the product itself writes, and what the package says it holds. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { servicePlan, UNIT_MARK } from "../../../../adapters/commands/service/serviceUnits.ts";

const ROOT = resolve(import.meta.dirname, "../../../..");
const textOf = (name: string): string => readFileSync(join(ROOT, name), "utf8");

/** Where packages are; a specifier of systemd's stands for what each user has. */
const RUNTIME_DIR = "/run/user/1000";
const HOME = "/home/me";

function plan(platform: "linux" | "darwin") {
  const made = servicePlan({
    platform,
    homeDir: HOME,
    env: platform === "linux" ? {} : { PATH: "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin" },
    execPath: platform === "linux" ? "/usr/bin/node" : "/usr/local/bin/node",
    scriptPath: `${platform === "linux" ? "/usr" : "/usr/local"}/lib/node_modules/tmuxwire/dist/adapters/bin/tmuxwire.js`,
    socketPath: `${RUNTIME_DIR}/tmuxwire/tmuxwire.sock`,
    host: "127.0.0.1",
    port: 7420,
  });
  if (made === undefined) throw new Error("no plan");
  return made;
}

/** Without what says who wrote it, and blank lines. */
const bare = (text: string): string[] =>
  text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("# "));

test.each(["tmuxwire.service", "tmuxwire.socket"])("systemd/%s is what `service install` writes", (name) => {
  const file = plan("linux").files.find(({ path }) => path.endsWith(name));
  const wanted = bare(file?.text ?? "").map((line) => line.replace(RUNTIME_DIR, "%t"));
  expect(wanted.length).toBeGreaterThan(5);
  expect(bare(textOf(`docs/packaging/systemd/${name}`))).toEqual(wanted);
});

test("the launchd agent is what `service install` writes, but for the log of a user", () => {
  const [file] = plan("darwin").files;
  const wanted = (file?.text ?? "")
    .split("\n")
    .filter((line) => !line.includes(UNIT_MARK) && !line.includes("StandardErrorPath"));
  expect(textOf("docs/packaging/launchd/tmuxwire.daemon.plist").split("\n")).toEqual(wanted);
});

test("the image runs without privileges, says whether it is healthy, and its files are there", () => {
  const lines = textOf("Dockerfile").split("\n");
  const at = (pattern: RegExp): number => lines.findIndex((line) => pattern.test(line));
  expect(at(/^USER node$/)).toBeGreaterThan(at(/^RUN npm install -g/));
  expect(at(/^HEALTHCHECK /)).toBeGreaterThan(0);
  expect(at(/^ENV SHELL=\/bin\/bash /)).toBeGreaterThan(0);
  expect(textOf(".dockerignore").split("\n")).toEqual(expect.arrayContaining(["node_modules", "dist", ".git"]));
});

test("the package leaves source maps out, and holds what documents lead to", () => {
  const { files, version } = JSON.parse(textOf("package.json")) as { files: string[]; version: string };
  expect(files).toEqual(expect.arrayContaining(["!dist/**/*.map", "docs", "adapters/client/python", "SECURITY.md"]));
  expect(textOf("docs/packaging/homebrew/tmuxwire.rb")).toContain(`/v${version}/tmuxwire-${version}.tgz`);
  expect(readdirSync(join(ROOT, "adapters/client/python")).toSorted()).toEqual(["README.md", "tmuxwire.py"]);
});
