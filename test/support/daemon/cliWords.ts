/** The words of an example's command line: quotes joined, everything from a pipe, a redirection or a substitution dropped. */
export function wordsOf(line: string): string[] {
  const inner = /\$\(([^)]*)\)/.exec(line)?.[1] ?? line;
  const command = inner.split(/ [|<>] /, 1)[0] ?? "";
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}
