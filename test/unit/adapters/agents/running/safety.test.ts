/** What a permission would let happen, by its tool and its command (docs/contracts/dashboard.md §8). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { SAFETIES, safetyOf, safetyOfCommand } from "../../../../../adapters/agents/running/safety.ts";

test.each([
  ["Read", {}, "safe_read"],
  ["Grep", {}, "safe_read"],
  ["WebFetch", {}, "safe_read"],
  ["google_web_search", {}, "safe_read"],
  ["read_file", {}, "safe_read"],
  ["Write", {}, "safe_write"],
  ["apply_patch", {}, "safe_write"],
  ["Bash", { command: "ls -la" }, "safe_read"],
  ["run_shell_command", { command: "rm x" }, "destructive"],
  ["shell", { command: ["ls", "-la"] }, "safe_read"],
  ["shell", { command: ["bash", "-lc", "ls"] }, "unknown"],
  ["shell", { command: ["bash", "-lc", "git reset --hard"] }, "destructive"],
  ["shell", { command: ["ls", 1] }, "unknown"],
  ["Bash", {}, "unknown"],
  ["Bash", null, "unknown"],
  ["mcp__files__read", {}, "unknown"],
  ["constructor", {}, "unknown"],
  [undefined, { command: "cat x" }, "safe_read"],
  [undefined, {}, "unknown"],
] as const)("the tool %s with %j: %s", (tool, input, safety) => {
  expect(safetyOf(tool, input)).toBe(safety);
});

const COMMANDS: Readonly<Record<(typeof SAFETIES)[number], readonly string[]>> = {
  safe_read: [
    "ls -la",
    "/bin/ls",
    "cat a b",
    "cd x && ls",
    "grep -rn 'rm -rf' .",
    'echo "a; rm b"',
    "find . -name '*.ts'",
    "cat a | sort | uniq -c | head -5",
    "ls 2>/dev/null",
    "ls >/dev/null 2>&1; pwd",
    "sed -n '1,20p' a.ts",
    "r''g x",
    "git status",
    "git log --oneline -5",
    "git -C /x --no-pager diff",
    "git branch -a",
    "git stash list",
    "git tag",
    "curl https://a.b/c",
    "curl -sSL -H 'Accept: x' https://a.b",
    "curl -X GET a.b",
    "date +%s",
  ],
  safe_write: [
    ["mkdir x", "touch a", "cp a b", "mv a b", "ls && touch a", "git add .", "git commit -m 'rm -rf'", "git push"],
    ["git checkout -b x", "git branch new", "git stash", "git fetch && git status", "wget https://a.b"],
    ["curl -d x a.b", "curl -X POST a.b", "curl -XDELETE a.b", "curl --json '{}' a.b", "curl -so f a.b"],
  ].flat(),
  unknown: [
    "",
    " ",
    "# ls",
    "make",
    "./ls",
    "/home/me/bin/ls",
    "PATH=. ls",
    "ls $X",
    "ls > a",
    "cat < a",
    "cat <<E\nx\nE",
    "echo $(cat a)",
    "echo `cat a`",
    'echo "$(rm a)"',
    "cat <(ls)",
    "ls 'a",
    "ls \\",
    "{ ls; }",
    "(ls)",
    "for a in b",
    "find . -delete",
    "find . -exec cat {} +",
    "sed -i s/a/b/ f",
    "sed -n '1w f' a",
    "sed s/a/b/ f",
    "tee f",
    "ls | tee f",
    "cat f | sh",
    "sudo ls",
    "env ls",
    "nohup ls",
    "bash -c ls",
    "xargs cat",
    "time ls",
    "sort -o f a",
    "uniq a b",
    "date -s x",
    "hostname x",
    "rg --pre x y",
    "tree -o f",
    "git -c core.pager=x log",
    "git checkout x",
    "git log --output=f",
    "git config user.name x",
    "git grep -Ox y",
    "git remote add a b",
    "curl -K f a.b",
    "ls & make",
    "npm install",
  ],
  destructive: [
    "rm -rf x",
    "/bin/rm x",
    "./rm",
    "\\rm x",
    "'rm' x",
    "r''m x",
    "rmdir x",
    "dd if=a of=b",
    "shred f",
    "truncate -s 0 f",
    "ls; rm x",
    "ls && rm x",
    "ls || rm x",
    "ls | rm x",
    "ls & rm x",
    "ls\nrm x",
    "(rm x)",
    "$(rm x)",
    "`rm x`",
    "mkfs.ext4 x",
    "sudo rm x",
    "sudo -n rm x",
    "env A=1 rm x",
    "A=1 rm x",
    "timeout 5 rm x",
    "find . | xargs rm",
    "bash -c 'rm x'",
    "if true; then rm x; fi",
    "git reset --hard",
    "git clean -fd",
    "git push --force",
    "git push -f",
    "git push a +b",
    "git rebase main",
    "git checkout -- f",
    "git checkout .",
    "git branch -D x",
    "git commit --amend",
    "git stash drop",
    "git -c a=b reset",
    "ls > f; rm x",
  ],
};

test.each(Object.entries(COMMANDS))("%s", (safety, commands) => {
  expect(commands.map((command) => [command, safetyOfCommand(command)])).toEqual(
    commands.map((command) => [command, safety]),
  );
});

test("a command of any length and form has one, at once", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (command) => {
      expect(SAFETIES).toContain(safetyOfCommand(command));
    }),
  );
  expect(safetyOfCommand(`cat ${"a".repeat(16_384)}`)).toBe("unknown");
});

test("whatever is joined to a command, it becomes no safer", () => {
  const all = Object.values(COMMANDS).flat();
  const plain = all.filter((command) => command.trim() !== "" && !/['"\\#\n<]/.test(command));
  fc.assert(
    fc.property(
      fc.constantFrom(...plain),
      fc.constantFrom(...plain),
      fc.constantFrom(";", "&&", "|", "\n"),
      (a, b, join) => {
        const rank = (command: string): number => SAFETIES.indexOf(safetyOfCommand(command));
        expect(rank(`${a} ${join} ${b}`)).toBeGreaterThanOrEqual(Math.max(rank(a), rank(b)));
      },
    ),
  );
});
