/** The shells that are installed here, as a person has them: with an editor, without anybody's start-up files. */
import { spawnSync } from "node:child_process";

interface ShellUnderTest {
  readonly name: "bash" | "zsh" | "fish" | "dash";
  readonly command: readonly string[];
}

const ALL: readonly ShellUnderTest[] = [
  { name: "bash", command: ["bash", "--norc", "--noprofile"] },
  { name: "zsh", command: ["zsh", "-f"] },
  { name: "fish", command: ["fish", "--no-config"] },
  { name: "dash", command: ["dash"] },
];

const isThere = ({ name }: ShellUnderTest): boolean => {
  const found = spawnSync(name, ["-c", "exit 0"]).status === 0;
  if (!found) console.log(`${name} is not installed: its tests are left out`);
  return found;
};

export const SHELLS: readonly ShellUnderTest[] = ALL.filter(isThere);

export const shellsNamed = (...names: readonly ShellUnderTest["name"][]): readonly ShellUnderTest[] =>
  SHELLS.filter(({ name }) => names.includes(name));
