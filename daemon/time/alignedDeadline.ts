/** Deadlines that may be a little late, moved together: a sleeping process is woken once for all of them. */

/** At or after `deadlineMs`, by less than `withinMs`, and the same for all deadlines in that interval. */
export const alignedDeadline = (deadlineMs: number, withinMs: number): number =>
  withinMs <= 0 ? deadlineMs : Math.ceil(deadlineMs / withinMs) * withinMs;
