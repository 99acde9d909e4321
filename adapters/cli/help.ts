/** Help text, generated from the command table. */
import type { CommandSpec, HelpTopic, OptionSpec, PositionalSpec, Program } from "./commandTypes.ts";
import { optionsOf } from "./parseCommand.ts";

/** The longest line of a description; most terminals have 80 columns. */
const WIDTH = 80;

/** Emphasis for a terminal, or plain text. */
interface Style {
  bold(text: string): string;
  dim(text: string): string;
}

export const plainStyle: Style = { bold: (text) => text, dim: (text) => text };
export const colourStyle: Style = {
  bold: (text) => `\u001b[1m${text}\u001b[0m`,
  dim: (text) => `\u001b[2m${text}\u001b[0m`,
};

/** `tmuxwire help`. */
export function overview({ name: program, about, commands, groups, topics = [] }: Program, style: Style): string {
  const listed = commands.filter(({ isHidden }) => isHidden !== true);
  const all = [{ title: "commands:", names: listed.map(({ name }) => name) }];
  const width = headWidth(listed.map(({ name }) => name));
  const sections = (groups ?? all).flatMap(({ title, names }) => {
    const rows = names.flatMap((name) => listed.filter((command) => command.name === name));
    const lines = rows.map(({ name, summary }) => ({ head: name, text: summary }));
    return rows.length === 0 ? [] : [style.bold(title), ...columns(lines, style, width), ""];
  });
  const topicNames = topics.map(({ name }) => `\`${program} help ${name}\``).join(", ");
  return [
    `${program}: ${about}`,
    "",
    `${style.bold("usage:")} ${program} COMMAND [OPTIONS]`,
    "",
    ...sections,
    `\`${program} help COMMAND\` describes a command. \`${program} --version\` prints the version.`,
    ...(topicNames === "" ? [] : wrap(`More: ${topicNames}.`, WIDTH)),
    "",
  ].join("\n");
}

/** `tmuxwire help TOPIC`. */
export const topicHelp = (program: string, { name, summary, rows, more }: HelpTopic, style: Style): string =>
  [
    `${program}: ${summary}`,
    "",
    ...section(`${name}:`, rows, style),
    "",
    ...more.flatMap((paragraph) => wrap(paragraph, WIDTH)),
    "",
  ].join("\n");

/** `tmuxwire help COMMAND`. */
export function commandHelp(program: string, command: CommandSpec, style: Style): string {
  const sections = [
    [`${program} ${command.name}: ${command.summary}`],
    [
      `${style.bold("usage:")} ${usageLine(program, command)}`,
      ...(command.aliases ?? []).map((name) => `       ${program} ${name} is the same`),
    ],
    ...(command.details ?? []).map((paragraph) => wrap(paragraph, WIDTH)),
    section(
      "arguments:",
      command.positionals.map((spec) => ({ head: spec.name, text: describe(spec) })),
      style,
    ),
    section(
      "options:",
      optionsOf(command).map((option) => ({ head: optionHead(option), text: describe(option) })),
      style,
    ),
    section(
      "examples:",
      command.examples.map(({ line, does }) => ({ head: line, text: does })),
      style,
    ),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function usageLine(program: string, command: CommandSpec): string {
  const positionals = command.positionals.map((spec) => {
    const name = spec.choices === undefined ? spec.name : spec.choices.join("|");
    const shown = spec.many === true ? `${name}...` : name;
    return spec.optional === true ? `[${shown}]` : shown;
  });
  const tail = command.tail === undefined ? [] : [`[-- ${command.tail}]`];
  return [program, command.name, ...positionals, ...(command.options.length > 0 ? ["[OPTIONS]"] : []), ...tail].join(
    " ",
  );
}

function section(title: string, rows: readonly Row[], style: Style): string[] {
  return rows.length === 0 ? [] : [style.bold(title), ...columns(rows, style)];
}

interface Row {
  readonly head: string;
  readonly text: string;
}

const headWidth = (heads: readonly string[]): number => Math.min(30, Math.max(...heads.map((head) => head.length)) + 2);

/** Puts the heads in one column; if a head is too wide, its text starts on the next line. */
function columns(rows: readonly Row[], style: Style, width = headWidth(rows.map(({ head }) => head))): string[] {
  return rows.flatMap(({ head, text }) => {
    const [first = "", ...rest] = wrap(text, WIDTH - width - 2);
    const indent = " ".repeat(width + 2);
    const lines = rest.map((line) => indent + line);
    if (head.length + 2 > width) return [`  ${head}`, `${indent}${style.dim(first)}`, ...lines];
    return [`  ${head.padEnd(width)}${first}`, ...lines];
  });
}

function optionHead({ name, short, type, value = "VALUE", implied }: OptionSpec): string {
  const given = implied === undefined ? ` ${value}` : `[=${value}]`;
  const long = type === "flag" ? `--${name}` : `--${name}${given}`;
  return short === undefined ? long : `-${short}, ${long}`;
}

function describe(spec: OptionSpec | PositionalSpec): string {
  const extras: string[] = [];
  if (spec.choices !== undefined) extras.push(`one of ${spec.choices.join(", ")}`);
  if ("type" in spec) {
    if (spec.type === "list") extras.push("may be given more than once");
    if (spec.default !== undefined) extras.push(`default: ${spec.default}`);
  }
  return extras.length === 0 ? spec.description : `${spec.description} (${extras.join("; ")})`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
