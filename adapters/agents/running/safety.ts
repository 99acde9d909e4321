/**
 * What a permission would let happen, by its tool and its command: for a colour, never for a decision. A shell has more ways
 * to destroy than any list: only a command that is read to its last word is called safe, and what is unsure is `unknown`.
 */
import { fieldsOf, textOf } from "../../../protocol/text/jsonObject.ts";

/** From harmless to worst. */
export const SAFETIES = ["safe_read", "safe_write", "unknown", "destructive"] as const;
export type Safety = (typeof SAFETIES)[number];

/** Nobody reads more before deciding. */
const MAX_COMMAND_CHARS = 16_384;

const namesOf = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Agents' tools, in lower case and without `_` and `-`. */
const READING_TOOLS = namesOf(
  "read readfile readmanyfiles notebookread view glob grep grepsearch searchfilecontent find ls list " +
    "listdirectory webfetch websearch googlewebsearch",
);
const WRITING_TOOLS = namesOf("write writefile edit multiedit notebookedit replace create applypatch patch");
const SHELL_TOOLS = namesOf("bash shell localshell runshellcommand execcommand runcommand");

/** @param tool undefined where an agent names none */
export function safetyOf(tool: string | undefined, input: unknown): Safety {
  const name = tool?.toLowerCase().replaceAll(/[_-]/g, "");
  if (name !== undefined && READING_TOOLS.has(name)) return "safe_read";
  if (name !== undefined && WRITING_TOOLS.has(name)) return "safe_write";
  if (name !== undefined && !SHELL_TOOLS.has(name)) return "unknown";
  const command = fieldsOf(input)?.["command"];
  if (Array.isArray(command)) {
    const words = command.map((word) => textOf(word));
    return words.every((word) => word !== undefined) ? safetyOfWords(words) : "unknown";
  }
  return safetyOfCommand(textOf(command) ?? "");
}

/** Of a shell's command line: that of its worst part. */
export function safetyOfCommand(command: string): Safety {
  if (command.length > MAX_COMMAND_CHARS) return "unknown";
  const { commands, isSure } = readCommands(command);
  const parts = commands.map(safetyOfWords);
  return worst(isSure && parts.length > 0 ? parts : [...parts, "unknown"]);
}

const worst = (parts: readonly Safety[]): Safety => SAFETIES[Math.max(...parts.map((part) => SAFETIES.indexOf(part)))]!;

/** These go nowhere or where the rest goes. */
const HARMLESS_REDIRECTIONS = /(?<=^|\s)(?:2>&1|&?[12]?>\s?\/dev\/null)(?=$|[\s;|&])/g;

/** Its simple commands as words; not sure where more than words, quotes and separators stands in it. */
function readCommands(command: string): { readonly commands: readonly string[][]; readonly isSure: boolean } {
  const commands: string[][] = [[]];
  let isSure = true;
  let word: string | undefined;
  let quote = "";
  const endWord = (): void => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  const text = command.replaceAll(HARMLESS_REDIRECTIONS, " ");
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (quote === "'" || (quote === '"' && char === quote)) {
      if (char === quote) quote = "";
      else word = `${word ?? ""}${char}`;
    } else if (char === "\\") {
      at += 1;
      const next = text[at] ?? "\n";
      if (next === "\n") isSure = false;
      word = `${word ?? ""}${next}`;
    } else if (quote === '"') {
      if (char === "$" || char === "`") isSure = false;
      word = `${word ?? ""}${char}`;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (char === " " || char === "\t") endWord();
    else if (";|&\n".includes(char)) {
      endWord();
      commands.push([]);
    } else if ("(){}`".includes(char)) {
      isSure = false;
      endWord();
      commands.push([]);
    } else {
      if ("$<>!".includes(char) || (char === "#" && word === undefined)) isSure = false;
      if (char === "<" || char === ">") endWord();
      else word = `${word ?? ""}${char}`;
    }
  }
  endWord();
  return { commands: commands.filter(({ length }) => length > 0), isSure: isSure && quote === "" };
}

const DESTRUCTIVE = namesOf("rm rmdir unlink shred dd truncate wipefs mkfs fdisk sfdisk parted");
const WRITING: ReadonlySet<string> = new Set(["mkdir", "touch", "cp", "mv", "ln", "chmod", "chown"]);

/** What only reads, unless an argument matches. */
const READING: ReadonlyMap<string, RegExp | undefined> = new Map<string, RegExp | undefined>([
  ...["cat", "head", "tail", "wc", "stat", "ls", "du", "df", "pwd", "cd", "whoami", "id", "uname", "which"].map(plain),
  ...["whereis", "type", "nl", "tac", "basename", "dirname", "realpath", "readlink", "diff", "cmp", "comm"].map(plain),
  ...["cut", "tr", "grep", "egrep", "fgrep", "echo", "true", "false", "test", "printenv", "ps"].map(plain),
  ["file", /^-\w*C|^--c/],
  ["printf", /^-/],
  ["sort", /^-\w*[oT]|^--[oct]/],
  ["date", /^-\w*s|^--s|^[^+-]/],
  ["hostname", /^/],
  ["tree", /^-\w*[oR]|^--o/],
  ["find", /^-(?:delete|exec|execdir|ok|okdir|fls|fprint|fprint0|fprintf)$/],
  ["fd", /^-\w*[xX]|^--e/],
  ["rg", /^--(?:pre|hostname-bin|search-zip)|^-\w*z/],
  // Two operands: the second one is written.
  ["uniq", /^[^-]/],
]);

function plain(name: string): readonly [string, undefined] {
  return [name, undefined];
}

/** They run what stands behind them. */
const RUNNERS = namesOf(
  "sudo doas env nohup nice ionice time timeout stdbuf setsid xargs exec eval command builtin if then " +
    "elif else while until do bash sh dash zsh fish",
);
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
const SYSTEM_PATH = /^\/(?:usr\/(?:local\/)?)?s?bin\/(?=[^/]+$)/;

function safetyOfWords(words: readonly string[]): Safety {
  const [first = "", ...args] = words;
  const name = first.replace(SYSTEM_PATH, "");
  const base = first.slice(first.lastIndexOf("/") + 1);
  if (DESTRUCTIVE.has(base) || base.startsWith("mkfs.")) return "destructive";
  if (ASSIGNMENT.test(first) || RUNNERS.has(name)) return safetyBehind(args);
  if (name === "git") return safetyOfGit(args);
  // Its scripts may write and execute: this one prints rows.
  if (name === "sed") return /^-n \d+(?:,(?:\d+|\$))?p(?: [^-]\S*)*$/.test(args.join(" ")) ? "safe_read" : "unknown";
  if (name === "curl" || name === "wget") return safetyOfFetch(name, args);
  if (WRITING.has(name)) return "safe_write";
  if (!READING.has(name)) return "unknown";
  return args.some((arg) => READING.get(name)?.test(arg) === true) ? "unknown" : "safe_read";
}

/** How it is run is not read: it is destructive, or unknown. */
function safetyBehind(args: readonly string[]): Safety {
  const at = args.findIndex((arg) => !/^-|^\d+[smhd]?$/.test(arg) && !ASSIGNMENT.test(arg));
  const command = args[at];
  if (command === undefined) return "unknown";
  const isScript = /^-\w*c$/.test(args[at - 1] ?? "");
  const behind = isScript ? safetyOfCommand(command) : safetyOfWords(args.slice(at));
  return worst(["unknown", behind]);
}

const GIT_READS = namesOf(
  "status log show diff blame describe rev-parse rev-list ls-files ls-tree shortlog cat-file merge-base " +
    "name-rev grep",
);
const GIT_WRITES = namesOf("add commit merge cherry-pick revert pull fetch push mv init clone switch branch tag stash");
/** With nothing but these behind them they list. */
const GIT_LISTS: ReadonlyMap<string, RegExp> = new Map([
  ["branch", /^(?:-[arv]+|--list|--all|--remotes|--verbose|--show-current)$/],
  ["tag", /^(?:-l|--list)$/],
  ["remote", /^(?:-v|--verbose)$/],
  ["stash", /^(?:list|show)$/],
  ["reflog", /^show$/],
  ["worktree", /^list$/],
  ["config", /^(?:-l|--list)$/],
]);
/** What rewrites history or throws work away, always or with such an argument. */
const GIT_DESTROYS: ReadonlyMap<string, RegExp | undefined> = new Map<string, RegExp | undefined>([
  ...["reset", "rebase", "clean", "restore", "rm", "prune", "filter-branch", "filter-repo", "update-ref"].map(plain),
  ["push", /^-\w*[fd]|^--(?:force|delete|mirror|prune)|^[+:]/],
  ["commit", /^--am/],
  ["checkout", /^-\w*[fB]|^--(?:force)?$|^\.$/],
  ["switch", /^-\w*[fC]|^--(?:force|discard)/],
  ["branch", /^-\w*[dDmMCf]|^--(?:delete|move|force)/],
  ["tag", /^-\w*[df]|^--(?:delete|force)/],
  ["stash", /^(?:drop|clear)$/],
  ["reflog", /^(?:expire|delete)$/],
  ["worktree", /^remove$/],
]);

function safetyOfGit(args: readonly string[]): Safety {
  let at = 0;
  let isSure = true;
  while (args[at]?.startsWith("-") === true) {
    isSure &&= args[at] === "-C" || args[at] === "--no-pager";
    at += args[at] === "-C" || args[at] === "-c" ? 2 : 1;
  }
  const [verb = "", ...rest] = args.slice(at);
  const destroys = GIT_DESTROYS.get(verb);
  if (GIT_DESTROYS.has(verb) && (destroys === undefined || rest.some((arg) => destroys.test(arg))))
    return "destructive";
  if (!isSure) return "unknown";
  const lists = GIT_LISTS.get(verb);
  if (lists !== undefined && verb !== "stash" && rest.every((arg) => lists.test(arg))) return "safe_read";
  if (verb === "stash" && lists?.test(rest[0] ?? "") === true) return "safe_read";
  // Of these, `--output` writes a file and a pager is a program.
  if (GIT_READS.has(verb))
    return rest.some((arg) => /^--(?:ou|open|ext|textc)|^-O/.test(arg)) ? "unknown" : "safe_read";
  return GIT_WRITES.has(verb) || (verb === "checkout" && rest[0] === "-b") ? "safe_write" : "unknown";
}

/** Options that change nothing about what is done, those with a value apart. */
const FETCH_PLAIN = /^-[sSLkifgNIvq46]+$|^--(?:silent|show-error|location|head|include|fail|compressed|insecure)$/;
const FETCH_VALUE = /^(?:-[sSLkifgNIv]*[HAemu]|--(?:header|user-agent|max-time|connect-timeout|url))$/;
/** A body is sent, or a file is made. */
const FETCH_WRITES = /^-\w*[dFToOJ]|^--(?:data|form|json|upload|output|remote-name|post|body)/;
const METHOD = /^(?:-\w*X|--request|--method)$/;

function safetyOfFetch(name: string, args: readonly string[]): Safety {
  let found: Safety = "safe_read";
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (METHOD.test(arg)) {
      at += 1;
      if (!/^(?:GET|HEAD|OPTIONS)$/i.test(args[at] ?? "")) found = worst([found, "safe_write"]);
    } else if (FETCH_VALUE.test(arg)) at += 1;
    else if (FETCH_WRITES.test(arg)) found = worst([found, "safe_write"]);
    else if (arg.startsWith("-") && !FETCH_PLAIN.test(arg)) found = worst([found, "unknown"]);
  }
  // wget keeps what it fetches.
  return name === "wget" ? worst([found, "safe_write"]) : found;
}
