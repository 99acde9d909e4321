/**
 * The tmux program that a guest's clients run. The daemon starts without one, too: a server of the user's cannot run
 * without it, so it is looked for again when a server listens on the socket.
 */
import { probeTmuxVersion } from "../../connection/tmuxVersion.ts";
import type { RunProgram } from "../../host/runProgram.ts";
import { AppError } from "../../../protocol/errors.ts";

export class GuestTmux {
  readonly #tmux: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #run: RunProgram;
  #version: string | undefined;
  #missing: AppError | undefined;

  constructor(tmux: string, env: Readonly<Record<string, string>>, run: RunProgram) {
    this.#tmux = tmux;
    this.#env = env;
    this.#run = run;
  }

  /** Undefined while there is none. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Why there is none; undefined when there is. */
  get missing(): AppError | undefined {
    return this.#missing;
  }

  /** @throws AppError TMUX_UNAVAILABLE when it is too old or does not run; that it is missing is remembered. */
  async find(): Promise<void> {
    if (this.#version !== undefined) return;
    try {
      this.#version = await probeTmuxVersion(this.#tmux, this.#env, this.#run);
      this.#missing = undefined;
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#missing = error;
    }
  }
}

const isMissing = (error: unknown): error is AppError =>
  error instanceof AppError && error.details?.["reason"] === "tmux_not_installed";
