/** A list that a person makes with a command, in a private file with a version: read at the start, replaced at a change. */
import * as v from "valibot";
import { tryParse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";
import { readPrivate, replacePrivate, requireKnownContent } from "./privateFiles.ts";

/** Higher numbers are of later versions. */
const VERSION = 1;
const MAX_BYTES = 1_048_576;

interface ListOptions<Item extends v.GenericSchema> {
  /** The file's member that holds the items. */
  readonly member: string;
  readonly item: Item;
  readonly maxItems: number;
  /** For messages: what is in the list, and the command that adds to it. */
  readonly title: string;
  readonly addedWith: string;
}

export function privateList<const Item extends v.GenericSchema>(options: ListOptions<Item>) {
  const { member, item, maxItems, title, addedWith } = options;
  const schema = v.object({
    version: v.literal(VERSION),
    [member]: v.pipe(v.array(item), v.maxLength(maxItems)),
  });
  return {
    /** @throws AppError CONFIGURATION_INVALID, INCONSISTENT_STATE if a newer version wrote it; the file stays as it is */
    read: (path: string): readonly v.InferOutput<Item>[] => {
      const found = readPrivate(path, { maxBytes: MAX_BYTES });
      if (found === undefined) return [];
      const content = parseJson(found.text ?? "");
      requireKnownContent(path, content, VERSION);
      const parsed = tryParse(schema, content);
      if (parsed.success) return (parsed.output as Readonly<Record<string, v.InferOutput<Item>[]>>)[member] ?? [];
      throw new AppError(
        "CONFIGURATION_INVALID",
        `${path} is not a list of ${title} of this version; move it away, and add them again with \`${addedWith}\``,
      );
    },
    write: (path: string, items: readonly v.InferOutput<Item>[]): void =>
      replacePrivate(path, `${JSON.stringify({ version: VERSION, [member]: items }, undefined, 2)}\n`),
  };
}
