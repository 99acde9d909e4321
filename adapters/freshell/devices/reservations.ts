/**
 * Places reserved for panes whose process is being started; the layout does not show them. A reservation that nobody
 * finalizes expires, and none outlives this process.
 */
import { RESERVATION_KEPT_MS } from "../../../protocol/api/freshell/rpc.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { LayoutMutation, NewIds } from "./layoutMutations.ts";
import { requireSameRequest } from "../../../daemon/ops/once.ts";
import type { AskedWithKey } from "./savedDevice.ts";

const MAX_RESERVATIONS = 64;

interface Reservation {
  readonly id: string;
  readonly command: LayoutMutation;
  /** The pane is given by its id. */
  readonly args: unknown;
  readonly ids: NewIds;
  readonly asked: AskedWithKey;
  /** What the owner returns. */
  readonly result: Readonly<Record<string, unknown>>;
}

export class Reservations {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #kept = new Map<string, { readonly reservation: Reservation; readonly untilMs: number }>();

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  /** Those that are valid, the oldest first. */
  get all(): readonly Reservation[] {
    this.#forgetOld();
    return [...this.#kept.values()].map(({ reservation }) => reservation);
  }

  /** The one of a caller that asks again. @throws AppError ALREADY_EXISTS */
  of({ caller, key, asked }: AskedWithKey): Reservation | undefined {
    const found = this.all.find((one) => one.asked.caller === caller && one.asked.key === key);
    if (found === undefined) return undefined;
    requireSameRequest(found.asked.asked, asked);
    this.#keep(found);
    return found;
  }

  /** @throws AppError RESOURCE_LIMIT */
  add(reservation: Reservation): void {
    if (this.all.length >= MAX_RESERVATIONS) {
      throw new AppError("RESOURCE_LIMIT", `${MAX_RESERVATIONS} panes are being created: try again when one is done`, {
        details: { limit: "reservations", max: MAX_RESERVATIONS },
      });
    }
    this.#keep(reservation);
  }

  /** Ends the reservation. @throws AppError NOT_FOUND */
  take(id: string): Reservation {
    this.#forgetOld();
    const found = this.#kept.get(id);
    this.#kept.delete(id);
    if (found !== undefined) return found.reservation;
    throw new AppError("NOT_FOUND", "this place is not reserved, or no longer: reserve it again", {
      details: { reason: "reservation" },
    });
  }

  drop(id: string): void {
    this.#kept.delete(id);
  }

  #keep(reservation: Reservation): void {
    this.#kept.delete(reservation.id);
    this.#kept.set(reservation.id, { reservation, untilMs: this.#clock.nowMs() + RESERVATION_KEPT_MS });
  }

  #forgetOld(): void {
    const nowMs = this.#clock.nowMs();
    for (const [id, { untilMs }] of this.#kept) {
      if (untilMs > nowMs) break;
      this.#kept.delete(id);
    }
  }
}
