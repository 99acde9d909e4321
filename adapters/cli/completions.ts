/**
 * Completion scripts, generated from the command table: commands, options, values known in advance, and files for paths.
 * Names of panes, sessions and servers come from the program (`names`), which prints only names that need no quoting, so
 * that the shell never interprets a session's name.
 */
import { shellWord } from "../../protocol/text/shellWord.ts";
import type { CommandSpec, OptionSpec, Program } from "./commandTypes.ts";
import { optionsOf } from "./parseCommand.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

type Named = Pick<Program, "name" | "commands">;

export function completionScript(shell: Shell, program: Named): string {
  switch (shell) {
    case "bash":
      return bashScript(program);
    case "zsh":
      return zshScript(program);
    case "fish":
      return fishScript(program);
  }
}

/** The kind of name each positional takes, if the daemon lists it. */
const namesOf = ({ positionals }: CommandSpec): readonly (string | undefined)[] =>
  positionals.map(({ names }) => names);
/** For fish, which prints an error if the program does not exist. */
const namesAsked = (program: string, kind: string): string =>
  `command -q ${program}; and ${program} names ${kind} 2>/dev/null`;
/** The command's name and aliases. */
const calledAs = ({ name, aliases = [] }: CommandSpec): readonly string[] => [name, ...aliases];

const wordsOf = ({ name, short }: OptionSpec): string[] => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
const choicesOf = (command: CommandSpec): readonly string[] =>
  command.positionals.flatMap((spec) => spec.choices ?? []);
/** The allowed or likely values of an option. */
function valuesOf({ choices, complete }: OptionSpec): readonly string[] | undefined {
  if (choices !== undefined) return choices;
  if (typeof complete === "function") return complete();
  return typeof complete === "string" ? undefined : complete;
}

function bashScript({ name: program, commands: table }: Named): string {
  const names = table.flatMap(calledAs).join(" ");
  const values = table.flatMap((command) =>
    optionsOf(command)
      .filter((option) => option.type !== "flag" && option.implied === undefined)
      .map((option) => {
        const patterns = wordsOf(option)
          .flatMap((word) => calledAs(command).map((name) => shellWord(`${name} ${word}`)))
          .join("|");
        return `    ${patterns}) ${bashValue(program, option)} return ;;`;
      }),
  );
  const words = table.map((command) => {
    const options = optionsOf(command).flatMap(wordsOf).join(" ");
    const choices = choicesOf(command).join(" ");
    const kinds = namesOf(command).map((kind) => kind ?? "-");
    const asked = kinds.some((kind) => kind !== "-") ? ` kinds=(${kinds.join(" ")})` : "";
    return `    ${calledAs(command).join("|")}) options=${shellWord(options)} choices=${shellWord(choices)}${asked} ;;`;
  });
  return `# ${program} completions for bash: eval "$(${program} completions bash)"
_${program}_paths() {
  local path
  while IFS= read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$2")
  compopt -o filenames 2>/dev/null
}
_${program}_names() {
  local name
  while IFS= read -r name; do [[ $name == "$2"* ]] && COMPREPLY+=("$name"); done < <(${program} names "$1" 2>/dev/null)
}
_${program}_offer() {
  local current=\${words[n-1]} previous=\${words[n-2]} command=\${words[1]}
  local options= choices= word at=0 kinds=()
  if [ "$n" -eq 2 ]; then
    COMPREPLY=( $(compgen -W ${shellWord(`${names} help --help --version`)} -- "$current") )
    return
  fi
  case "$command $previous" in
${values.join("\n")}
  esac
  case "$command" in
    help) choices=${shellWord(names)} ;;
${words.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=( $(compgen -W "$options" -- "$current") ) ;;
    *)
      COMPREPLY=( $(compgen -W "$choices" -- "$current") )
      for word in "\${words[@]:2:n-3}"; do [[ $word == -* ]] || at=$((at + 1)); done
      case "\${kinds[at]--}" in -) ;; *) _${program}_names "\${kinds[at]}" "$current" ;; esac
      ;;
  esac
}
# bash cuts words at @, and replaces only what follows the last one, and it.
_${program}() {
  local words=() n=0 word before
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ $n -gt 2 && ( $word == @* || \${words[n-1]} == *@ ) ]]; then words[n-1]+=$word
    else words[n]=$word n=$((n + 1)); fi
  done
  _${program}_offer
  word=\${words[n-1]} before=\${words[n-1]%@*}
  if [[ $word == *@* && $COMP_WORDBREAKS == *@* ]]; then COMPREPLY=("\${COMPREPLY[@]#"$before"}"); fi
}
complete -F _${program} ${program}
`;
}

function bashValue(program: string, option: OptionSpec): string {
  const values = valuesOf(option);
  if (values !== undefined) return `COMPREPLY=( $(compgen -W ${shellWord(values.join(" "))} -- "$current") );`;
  if (option.names !== undefined) return `_${program}_names ${option.names} "$current";`;
  if (option.complete === "file") return `_${program}_paths -f "$current";`;
  if (option.complete === "directory") return `_${program}_paths -d "$current";`;
  return "";
}

function zshScript({ name: program, commands: table }: Named): string {
  const listed = table.flatMap((command) =>
    calledAs(command).map((name) => `    ${shellWord(`${name}:${zshText(command.summary)}`)}`),
  );
  const cases = table.map((command) => {
    const options = optionsOf(command).flatMap((option) =>
      wordsOf(option).map((word) => `        ${shellWord(zshOption(program, option, word))}`),
    );
    const positionals = command.positionals.map((spec) => {
      const from = spec.many === true ? "*" : "";
      const asked = spec.names === undefined ? " " : `{_${program}_names ${spec.names}}`;
      const action = spec.choices === undefined ? asked : `(${spec.choices.join(" ")})`;
      return `        ${shellWord(`${from}:${zshText(spec.name)}:${action}`)}`;
    });
    return `    ${calledAs(command).join("|")})\n      _arguments \\\n${[...options, ...positionals].join(" \\\n")}\n      ;;`;
  });
  return `#compdef ${program}
# ${program} completions for zsh: ${program} completions zsh > "\${fpath[1]}/_${program}"
_${program}_names() {
  local -a names
  names=(\${(f)"$(${program} names "$1" 2>/dev/null)"})
  compadd -a names
}
_${program}() {
  local -a commands
  commands=(
${listed.join("\n")}
    'help:describe a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
    help)
      _describe command commands
      ;;
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_${program}" ]; then _${program} "$@"; else compdef _${program} ${program}; fi
`;
}

/** Colons and brackets are special in zsh's specifications. */
const zshText = (text: string): string => text.replace(/[[\]:\\]/g, "\\$&");

function zshOption(program: string, option: OptionSpec, word: string): string {
  const repeat = option.type === "list" ? "*" : "";
  const description = `[${zshText(option.description)}]`;
  if (option.type === "flag") return `${repeat}${word}${description}`;
  const values = valuesOf(option);
  const asked = option.names === undefined ? " " : `{_${program}_names ${option.names}}`;
  const paths = option.complete === "directory" ? "_files -/" : option.complete === "file" ? "_files" : asked;
  const action = values === undefined ? paths : `(${values.join(" ")})`;
  if (option.implied !== undefined) return `${word}=-${description}::${zshText(option.value ?? "VALUE")}:${action}`;
  const equals = word.startsWith("--") ? "=" : "";
  return `${repeat}${word}${equals}${description}:${zshText(option.value ?? "VALUE")}:${action}`;
}

function fishScript({ name: program, commands: table }: Named): string {
  const first = table.flatMap((command) =>
    calledAs(command).map(
      (name) => `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${shellWord(command.summary)}`,
    ),
  );
  const rest = table.flatMap((command) => {
    const when = `complete -c ${program} -n ${shellWord(`__fish_seen_subcommand_from ${calledAs(command).join(" ")}`)}`;
    const choices = choicesOf(command);
    return [
      ...(choices.length === 0 ? [] : [`${when} -a ${shellWord(choices.join(" "))}`]),
      ...[...new Set(namesOf(command))].flatMap((kind) =>
        kind === undefined ? [] : [`${when} -a ${shellWord(`(${namesAsked(program, kind)})`)}`],
      ),
      ...optionsOf(command).map((option) => `${when} ${fishOption(program, option)}`),
    ];
  });
  return `# ${program} completions for fish: ${program} completions fish > ~/.config/fish/completions/${program}.fish
complete -c ${program} -f
${first.join("\n")}
complete -c ${program} -n __fish_use_subcommand -a help -d 'describe a command'
complete -c ${program} -n '__fish_seen_subcommand_from help' -a ${shellWord(table.map((command) => command.name).join(" "))}
${rest.join("\n")}
`;
}

function fishOption(program: string, option: OptionSpec): string {
  const { name, short, type, description, complete, implied } = option;
  const values = option.names === undefined ? valuesOf(option) : [`(${namesAsked(program, option.names)})`];
  const any = complete === undefined ? " -x" : " -r -F";
  // An option with an optional value does not take the next word.
  const value =
    type === "flag" || implied !== undefined
      ? ""
      : values === undefined
        ? any
        : ` -x -a ${shellWord(values.join(" "))}`;
  return `-l ${name}${short === undefined ? "" : ` -s ${short}`}${value} -d ${shellWord(description)}`;
}
