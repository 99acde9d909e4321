/** The results and inputs of `tmuxwire doctor`'s checks. */
import type { DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import { toAppError } from "../../protocol/errors.ts";

export type Verdict = "ok" | "warn" | "fail";

export interface Finding {
  /** The name of the check. */
  readonly check: string;
  readonly verdict: Verdict;
  readonly message: string;
  /** What to do; present unless the verdict is `ok`. */
  readonly remedy?: string | undefined;
}

export const ok = (check: string, message: string): Finding => ({ check, verdict: "ok", message });
export const warn = (check: string, message: string, remedy: string): Finding => ({
  check,
  verdict: "warn",
  message,
  remedy,
});
export const fail = (check: string, message: string, remedy?: string): Finding => ({
  check,
  verdict: "fail",
  message,
  remedy,
});

export interface CheckInputs {
  readonly daemon: DaemonConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** One check. Changes nothing. */
export interface Check {
  readonly name: string;
  readonly probe: () => Promise<Finding> | Finding;
}

/** The check's finding; a thrown error becomes one too, because our errors say what to do. */
export async function findingOf({ name, probe }: Check): Promise<Finding> {
  try {
    return await probe();
  } catch (error) {
    return fail(name, toAppError(error).message);
  }
}
