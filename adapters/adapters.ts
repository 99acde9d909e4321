/** Every client that the daemon can serve, and the flag that chooses among them. One more is one row. */
import { invalidArgument } from "../protocol/errors.ts";
import { addinAdapter } from "./addin/addinAdapter.ts";
import { dashboardAdapter } from "./dashboard/dashboardAdapter.ts";
import { fleetAdapter } from "./fleet/fleetAdapter.ts";
import { freshellAdapter } from "./freshell/freshellAdapter.ts";
import { nativeAdapter } from "./native/nativeAdapter.ts";
import type { Adapter } from "./serving/adapter.ts";
import { teamAdapter } from "./team/teamAdapter.ts";

const LIST = [addinAdapter, nativeAdapter, teamAdapter, dashboardAdapter, freshellAdapter, fleetAdapter] as const;
export type AdapterName = (typeof LIST)[number]["name"];
export type AdapterConfigs = {
  readonly [One in (typeof LIST)[number] as One["name"]]: ReturnType<One["readConfig"]>;
};

/** In the order of their start-up lines. */
export const ADAPTERS: readonly (Adapter<unknown> & { readonly name: AdapterName })[] = LIST;
export const ADAPTER_NAMES: readonly AdapterName[] = ADAPTERS.map(({ name }) => name);

/** What `--with` and `tmuxwire enable` take. */
export const OPT_IN_NAMES: readonly AdapterName[] = ADAPTERS.flatMap(({ name, isOptIn }) =>
  isOptIn === true ? [name] : [],
);

/** The value of `--only`: names with commas between. @throws AppError INVALID_ARGUMENT */
export function parseOnly(text: string | undefined): ReadonlySet<AdapterName> {
  if (text === undefined) return new Set(ADAPTER_NAMES);
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(ADAPTER_NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw invalidArgument(`--only takes ${ADAPTER_NAMES.join(", ")}; "${unknown}" is none of them`);
  }
  return new Set(names as AdapterName[]);
}
