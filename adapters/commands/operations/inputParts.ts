/** A command's input as one job of the API: text, then keys, then Enter. */
import type { NativeInputPart } from "../../client/client.ts";
import { AppError } from "../../../protocol/errors.ts";
import { MAX_INPUT_BYTES } from "../../../protocol/limits.ts";
import { stdinOf } from "../../cli/cliIo.ts";
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";

export const INPUT_OPTIONS: readonly OptionSpec[] = [
  { name: "key", short: "k", type: "list", value: "KEY", description: "press a key after the text: C-c, Up, Escape" },
  { name: "enter", short: "e", type: "flag", description: "press Enter last" },
  { name: "paste", short: "p", type: "flag", description: "paste the text, bracketed if the program has asked for it" },
];

/** Undefined when there is nothing to type. `-` alone is standard input, byte for byte. */
export async function inputOf(call: CommandCall, words: readonly string[]): Promise<NativeInputPart[] | undefined> {
  const { options } = call;
  const kind = options.flag("paste") ? "paste" : "text";
  const parts: NativeInputPart[] = [];
  if (words.length === 1 && words[0] === "-") {
    const bytes = await readAll(call);
    if (bytes.length > 0) parts.push({ kind, base64: bytes.toString("base64") });
  } else if (words.length > 0) {
    parts.push({ kind, text: words.join(" ") });
  }
  const keys = options.list("key");
  if (keys.length > 0) parts.push({ kind: "keys", keys: [...keys] });
  if (options.flag("enter")) parts.push({ kind: "enter" });
  return parts.length === 0 ? undefined : parts;
}

/** Words as one text; `-` alone is standard input, which must be text. @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export async function readText(call: CommandCall, words: readonly string[]): Promise<string> {
  if (words.length !== 1 || words[0] !== "-") return words.join(" ");
  const bytes = await readAll(call);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    throw new AppError("INVALID_ARGUMENT", "standard input is not UTF-8 text", { cause: error });
  }
}

async function readAll({ io }: CommandCall): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stdinOf(io)) {
    length += chunk.length;
    if (length > MAX_INPUT_BYTES) {
      throw new AppError("RESOURCE_LIMIT", `the input is larger than ${MAX_INPUT_BYTES} bytes: send it in pieces`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
