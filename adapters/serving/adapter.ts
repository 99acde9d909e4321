/**
 * An adapter's manifest: its settings and flags, its `doctor` checks, and its start. `adapters/adapters.ts` lists them;
 * help, completions, `config`, `doctor` and `serve` derive from that list. Code that only a start or a check needs is loaded
 * then.
 */
import type { ConfigInputs, DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import type { FlagSpec, SettingReader } from "../../daemon/ops/settings.ts";
import type { Check, CheckInputs } from "./findings.ts";
import type { MountedPart, StartContext } from "./startContext.ts";

export interface Adapter<Config> {
  /** In `--only`. */
  readonly name: string;
  /** In messages. */
  readonly title: string;
  readonly flags: readonly FlagSpec[];
  /** @throws AppError CONFIGURATION_INVALID */
  readConfig(settings: SettingReader, inputs: ConfigInputs, daemon: DaemonConfig): Config;
  /** For `--with` and `tmuxwire enable`: all or part of it touches what belongs to others, so it starts only on request. */
  readonly isOptIn?: boolean;
  /** What it needs and lacks: it is then skipped, with one line, unless it was asked for by name. */
  offBecause?(config: Config): string | undefined;
  /** In the order in which a start would meet the problems. */
  checks?(config: Config, inputs: CheckInputs): Promise<readonly Check[]>;
  /** Checked before anything is started: usually a start fails because a daemon is running. */
  requireFree?(config: Config, context: StartContext): Promise<void>;
  /** Listens. @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE */
  start?(config: Config, context: StartContext): Promise<void>;
  /** Serves it on the listener of an adapter with `carriesMounts`. */
  mount?(config: Config, context: StartContext): Promise<MountedPart>;
  /** Its listener also serves what others mount, even when only those are served. */
  readonly carriesMounts?: boolean;
}

/** Keeps the name as a literal type. */
export const defineAdapter = <Name extends string, Config>(
  adapter: Adapter<Config> & { readonly name: Name },
): Adapter<Config> & { readonly name: Name } => adapter;
