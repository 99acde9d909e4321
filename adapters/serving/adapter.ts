/**
 * What an adapter is to the daemon: its settings and flags, what `doctor` looks at, and its start. `adapters/adapters.ts`
 * lists them; help, completions, `config`, `doctor` and `serve` are made from that list. What only a start or a check needs
 * is loaded then.
 */
import type { ConfigInputs, DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import type { FlagSpec, SettingReader } from "../../daemon/ops/settings.ts";
import type { Mount } from "../http/mount.ts";
import type { Check, CheckInputs } from "./findings.ts";
import type { StartContext } from "./startContext.ts";

export interface Adapter<Config> {
  /** Of `--only`. */
  readonly name: string;
  /** As people are told of it. */
  readonly title: string;
  readonly flags: readonly FlagSpec[];
  /** @throws AppError CONFIGURATION_INVALID */
  readConfig(settings: SettingReader, inputs: ConfigInputs, daemon: DaemonConfig): Config;
  /** Of `--with` and `tmuxwire enable`: it, or a part of it, touches what is somebody else's, and starts when it is wanted. */
  readonly isOptIn?: boolean;
  /** What it needs and does not have: it is left out, in one line, unless it was asked for by name. */
  offBecause?(config: Config): string | undefined;
  /** In the order in which a start would meet what they look at. */
  checks?(config: Config, inputs: CheckInputs): Promise<readonly Check[]>;
  /** Before anything is started: the usual reason for a start that fails is a daemon that is running. */
  requireFree?(config: Config, context: StartContext): Promise<void>;
  /** Listens. @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE */
  start?(config: Config, context: StartContext): Promise<void>;
  /** Is served on another adapter's listener, which `carries` what has one of these. */
  mount?(config: Config, context: StartContext): Promise<MountedPart>;
  /** Its listener serves what others mount as well; it runs for them alone, too. */
  readonly carriesMounts?: boolean;
}

export interface MountedPart {
  readonly mount: Mount;
  /** The listener is there. @throws AppError CONFIGURATION_INVALID when nothing else is served */
  announce(url: string, token: string): Promise<void>;
}

/** Keeps the name as a type of its own. */
export const defineAdapter = <Name extends string, Config>(
  adapter: Adapter<Config> & { readonly name: Name },
): Adapter<Config> & { readonly name: Name } => adapter;
