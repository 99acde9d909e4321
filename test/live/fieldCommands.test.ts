/**
 * What a person or a script types in a pane, a command for each class of fault (docs/tmuxFacts.md 51): output flows on, and
 * what is missing is declared. All the commands are typed by the load test of the same name.
 */
import { FIELD_ROWS } from "../support/tmux/fieldRows.ts";
import { fieldTests } from "../support/tmux/fieldTests.ts";

const HEARTBEAT_MS = 100;

fieldTests(
  FIELD_ROWS.filter(({ standsFor }) => standsFor !== undefined),
  HEARTBEAT_MS,
);
