/**
 * Buttons that answer from a notification. A ticket is for one question of one agent and for the options that the notification
 * shows; it ends when it is used, after `LIFE_MS`, and when the question is answered or taken back. Only hashes are kept, and
 * only in memory: after a restart a button says that it is no longer valid.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../../daemon/time/clock.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";

/** Long enough to take a phone out of a pocket. */
const LIFE_MS = 900_000;
/** One per open question and channel; what is more ends, the oldest first. */
const MAX_TICKETS = 1_000;
/** Of all tries in a minute: nobody who holds a ticket fails more often. */
const MAX_FAILURES = 20;
const MINUTE_MS = 60_000;

interface OfferedOption {
  /** From 0, in the dialog. */
  readonly index: number;
  /** Foreign text. */
  readonly label: string;
}

interface Question {
  readonly agent: string;
  readonly dialogId: string;
  readonly notice: string;
  readonly channel: string;
  readonly options: readonly OfferedOption[];
}

interface Ticket extends Question {
  readonly hash: Buffer;
  readonly endsMs: number;
}

export class AnswerTickets {
  readonly #clock: Clock;
  /** By the public first part of the token. */
  readonly #tickets = new Map<string, Ticket>();
  #failures = { sinceMs: -Infinity, count: 0 };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The token, which is kept nowhere. A question's earlier one on that channel ends. */
  offer(question: Question): string {
    this.#end((ticket) => ticket.notice === question.notice && ticket.channel === question.channel);
    const [id, secret] = [randomBytes(8).toString("hex"), randomBytes(24).toString("base64url")];
    this.#tickets.set(id, { ...question, hash: digest(secret), endsMs: this.#clock.nowMs() + LIFE_MS });
    for (const oldest of this.#tickets.keys()) {
      if (this.#tickets.size <= MAX_TICKETS) break;
      this.#tickets.delete(oldest);
    }
    return `${id}.${secret}`;
  }

  /** Ends the ticket. @throws AppError RESOURCE_LIMIT, NOT_FOUND, INVALID_ARGUMENT: nothing may be answered */
  redeem(token: string, option: number): Question & { readonly option: OfferedOption } {
    this.#requireFew();
    const [id = "", secret = ""] = token.split(".");
    const ticket = this.#tickets.get(id);
    if (ticket === undefined || !timingSafeEqual(ticket.hash, digest(secret))) {
      throw this.#failed(
        "NOT_FOUND",
        "this button is no longer valid: the question is settled, the button was used, or tmuxwire was restarted; answer on the dashboard",
      );
    }
    if (ticket.endsMs <= this.#clock.nowMs()) {
      this.#tickets.delete(id);
      throw this.#failed(
        "NOT_FOUND",
        `this button is older than ${LIFE_MS / MINUTE_MS} minutes; answer on the dashboard`,
      );
    }
    const offered = ticket.options.find(({ index }) => index === option);
    if (offered === undefined) {
      this.#count();
      throw invalidArgument("option: is not one that the notification offers; answer on the dashboard");
    }
    this.#tickets.delete(id);
    return { ...ticket, option: offered };
  }

  /** Of a question that is settled. */
  revokeNotice(notice: string): void {
    this.#end((ticket) => ticket.notice === notice);
  }

  revokeChannel(channel: string): void {
    this.#end((ticket) => ticket.channel === channel);
  }

  #end(isMeant: (ticket: Ticket) => boolean): void {
    for (const [id, ticket] of this.#tickets) if (isMeant(ticket)) this.#tickets.delete(id);
  }

  #requireFew(): void {
    const { sinceMs, count } = this.#failures;
    if (count < MAX_FAILURES || this.#clock.nowMs() - sinceMs >= MINUTE_MS) return;
    throw new AppError(
      "RESOURCE_LIMIT",
      "too many invalid buttons were pressed; answer on the dashboard, or in a minute",
    );
  }

  #count(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#failures.sinceMs >= MINUTE_MS) this.#failures = { sinceMs: nowMs, count: 0 };
    this.#failures.count += 1;
  }

  #failed(code: "NOT_FOUND", message: string): AppError {
    this.#count();
    return new AppError(code, message);
  }
}

const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();
