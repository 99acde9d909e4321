/** Aligns deadlines that may be a little late, so that a sleeping process is woken once for all of them. */

/** At or after `deadlineMs` by less than `withinMs`; the same for all deadlines in that interval. */
export const alignedDeadline = (deadlineMs: number, withinMs: number): number =>
  withinMs <= 0 ? deadlineMs : Math.ceil(deadlineMs / withinMs) * withinMs;
