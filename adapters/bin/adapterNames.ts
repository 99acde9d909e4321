/** What can be served, and the flag that chooses among it. */
import { AppError } from "../../protocol/errors.ts";

/** In the order of their start-up lines. */
export const ADAPTERS = ["addin", "native", "team", "dashboard"] as const;
export type AdapterName = (typeof ADAPTERS)[number];

/** The value of `--only`: names with commas between. @throws AppError INVALID_ARGUMENT */
export function parseOnly(text: string | undefined): ReadonlySet<AdapterName> {
  if (text === undefined) return new Set(ADAPTERS);
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(ADAPTERS as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new AppError("INVALID_ARGUMENT", `--only takes ${ADAPTERS.join(", ")}; "${unknown}" is none of them`);
  }
  return new Set(names as AdapterName[]);
}
