/** The data of `GET /hook/status`. Nothing is polled, with hooks or without: the intervals are 0. */
import type { HookName } from "./hookNames.ts";

/** Without a hook for this long, the contract calls it the fallback mode. */
const FALLBACK_SEC = 300;

export class HookStats {
  readonly #nowUnixMs: () => number;
  #lastUnixMs: number | undefined;
  #lastName: HookName | undefined;
  #count = 0;

  constructor(nowUnixMs: () => number) {
    this.#nowUnixMs = nowUnixMs;
  }

  received(name: HookName): void {
    this.#lastUnixMs = this.#nowUnixMs();
    this.#lastName = name;
    this.#count += 1;
  }

  report(isEnabled: boolean): Readonly<Record<string, unknown>> {
    const agoSec = this.#lastUnixMs === undefined ? undefined : (this.#nowUnixMs() - this.#lastUnixMs) / 1_000;
    return {
      enabled: isEnabled,
      mode: agoSec !== undefined && agoSec <= FALLBACK_SEC ? "hooks_active" : "polling_fallback",
      last_event_at: this.#lastUnixMs === undefined ? null : new Date(this.#lastUnixMs).toISOString(),
      last_event_ago: agoSec === undefined ? null : agoText(agoSec),
      last_event_type: this.#lastName?.replaceAll("-", "_") ?? null,
      events_received: this.#count,
      polling_interval: 0,
      config: { polling_interval_with_hooks: 0, polling_interval_fallback: 0, fallback_timeout: FALLBACK_SEC },
    };
  }
}

function agoText(sec: number): string {
  if (sec < 60) return `${Math.floor(sec)}s ago`;
  return sec < 3_600 ? `${Math.floor(sec / 60)}m ago` : `${Math.floor(sec / 3_600)}h ago`;
}
