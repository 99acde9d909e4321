/** Schemas of settings that several parts of the configuration use; they take text, as it comes from shells and files. */
import { join, resolve } from "node:path";
import * as v from "valibot";

export const lowerCase = v.pipe(v.string(), v.trim(), v.toLowerCase());

export const wholeNumber = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.trim(), v.regex(/^\d{1,15}$/), v.transform(Number))]),
  v.integer(),
);

const yesOrNo = v.union([
  v.boolean(),
  v.pipe(
    lowerCase,
    v.picklist(["1", "true", "0", "false"]),
    v.transform((text) => text === "1" || text === "true"),
  ),
]);

export const hostName = v.pipe(lowerCase, v.regex(/^[a-z0-9._:-]+$/));

/** A list in the file, or comma-separated text. */
export const textList = v.pipe(
  v.union([
    v.array(v.string()),
    v.pipe(
      v.string(),
      v.transform((text) => text.split(",")),
    ),
  ]),
  v.transform((list) => list.map((text) => text.trim()).filter((text) => text !== "")),
);

/** Whether it is an origin as a browser sends it. */
const isOrigin = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#A-Z]+$/.test(text);

/** Schemas with their descriptions, for settings that several listeners have. */
export const HOST = { schema: hostName, expected: "a host name or address without scheme, port or brackets" };
export const PORT = {
  schema: v.pipe(wholeNumber, v.minValue(0), v.maxValue(65_535)),
  expected: "an integer from 0 to 65535",
};
export const YES_OR_NO = { schema: yesOrNo, expected: "1, true, 0 or false" };
export const ORIGINS = {
  schema: v.pipe(textList, v.everyItem(isOrigin)),
  expected: "comma-separated origins as browsers send them: scheme://host[:port] in lower case, without a path",
};

interface PathBase {
  readonly cwd: string;
  readonly homeDir: string;
}

/** Makes a path absolute; a leading `~/`, which no shell expands inside a file, means the home directory. */
export const absolutePath = ({ cwd, homeDir }: PathBase, path: string): string =>
  path.startsWith("~/") ? join(homeDir, path.slice(2)) : resolve(cwd, path);

export const pathSetting = (base: PathBase) => ({
  schema: v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty(),
    v.transform((path) => absolutePath(base, path)),
  ),
  expected: "a path",
});
