/** Which users of this machine may use listeners that have no token, besides the daemon's own and root. */
import * as v from "valibot";
import type { SettingReader } from "./settings.ts";
import { textList } from "./settingSchemas.ts";

/** `any`: whoever is on this machine. */
export type AllowedUids = ReadonlySet<number> | "any";

/** The largest number that can be a user's. */
const MAX_UID = 4_294_967_294;

const isUid = (uid: number): boolean => Number.isInteger(uid) && uid >= 0 && uid <= MAX_UID;

const anybody = v.pipe(v.string(), v.trim(), v.toLowerCase(), v.literal("any"));

const writtenUids = v.pipe(
  textList,
  v.everyItem((text) => /^\d{1,10}$/.test(text)),
  v.transform((list) => list.map(Number)),
  v.everyItem(isUid),
);

/** @throws AppError CONFIGURATION_INVALID */
export function readAllowedUids(settings: SettingReader): AllowedUids {
  const given = settings.read<readonly number[] | "any">({
    key: "listeners.allowUids",
    flag: "allow-uids",
    variable: "TMUXWIRE_ALLOW_UIDS",
    schema: v.union([anybody, v.pipe(v.array(v.number()), v.everyItem(isUid)), writtenUids]),
    expected: 'numbers of users with commas between, as `id -u` tells them, or "any" for whoever is on this machine',
    fallback: [],
  });
  return given === "any" ? "any" : new Set(given);
}
