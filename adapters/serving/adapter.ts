/**
 * An adapter's manifest: its settings and flags, its `doctor` checks, and its start. `adapters/adapters.ts` lists them;
 * help, completions, `config`, `doctor` and `serve` derive from that list. Code needed only by a start or a check is loaded
 * on demand.
 */
import type { ConfigInputs, DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import type { FlagSpec, SettingReader } from "../../daemon/ops/settings.ts";
import type { Check, CheckInputs } from "./findings.ts";
import type { MountedPart, StartContext } from "./startContext.ts";

export interface Adapter<Config> {
  /** The name in `--only`. */
  readonly name: string;
  /** The name in messages. */
  readonly title: string;
  readonly flags: readonly FlagSpec[];
  /** @throws AppError CONFIGURATION_INVALID */
  readConfig(settings: SettingReader, inputs: ConfigInputs, daemon: DaemonConfig): Config;
  /** All or part of it changes files of other programs, so it starts only with `--with` or `tmuxwire enable`. */
  readonly isOptIn?: boolean;
  /** Why it is skipped, with one line, unless it was asked for by name; undefined if it is not skipped, empty if nobody is told. */
  offBecause?(config: Config): string | undefined;
  /** In the order in which a start would encounter the problems. */
  checks?(config: Config, inputs: CheckInputs): Promise<readonly Check[]>;
  /** Checked before anything is started, because most starts fail when a daemon is already running. */
  requireFree?(config: Config, context: StartContext): Promise<void>;
  /** Starts to listen. @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE */
  start?(config: Config, context: StartContext): Promise<void>;
  /** Serves it on the listener of an adapter with `carriesMounts`. */
  mount?(config: Config, context: StartContext): Promise<MountedPart>;
  /** Its listener also serves what other adapters mount, even if only those are served. */
  readonly carriesMounts?: boolean;
}

/** Keeps the name as a literal type. */
export const defineAdapter = <Name extends string, Config>(
  adapter: Adapter<Config> & { readonly name: Name },
): Adapter<Config> & { readonly name: Name } => adapter;
