/** Deadlines that may be late a little, moved to where others are: a process that sleeps is woken once for all of them. */

/** At or after `deadlineMs`, later by less than `withinMs`, and the same for all deadlines of that time. */
export const alignedDeadline = (deadlineMs: number, withinMs: number): number =>
  withinMs <= 0 ? deadlineMs : Math.ceil(deadlineMs / withinMs) * withinMs;
