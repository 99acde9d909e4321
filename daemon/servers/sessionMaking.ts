/**
 * Makes a session in one step with everything that must hold from its program's start (docs/tmuxFacts.md 34).
 * A command on the same line can name the session only by its name, and tmux writes some names in its own way, each
 * version in another (docs/tmuxFacts.md, Versions): such a session is made under a name of ours, and gets its own last.
 * From the next line on it is known by its id. What was made is removed when a later command of the step fails.
 */
import {
  type JustMade,
  killSession,
  type NewSession,
  newSession,
  renameSession,
  resizeWindow,
  unsetWindowOption,
} from "../../protocol/command/build.ts";
import { lines } from "../../protocol/command/rowFormat.ts";
import { isSessionId, type SessionId } from "../../protocol/ids.ts";
import type { Reply } from "../connection/commandQueue.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import { createNonce } from "../connection/framing.ts";
import { creationError } from "./sessionRules.ts";

/** Every tmux keeps these as they are, and finds them by `=NAME:`. */
const KEPT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;

export interface SessionToMake extends Omit<NewSession, "format"> {
  /** Commands about it, its window or its pane. */
  readonly setUp: readonly ((made: JustMade) => string)[];
}

/** Its id; undefined when it has ended at once. @throws AppError ALREADY_EXISTS, RESOURCE_LIMIT and others */
export async function makeSession(
  connection: ControlConnection,
  session: SessionToMake,
): Promise<SessionId | undefined> {
  const { name, cols, rows, setUp } = session;
  const about = [...(cols === undefined && rows === undefined ? [] : sizing(cols, rows)), ...setUp];
  const isKept = about.length === 0 || KEPT_NAME.test(name);
  const first = isKept ? name : `tmuxwire-${createNonce().slice(0, 12)}`;
  const made = `=${first}:` as const;
  const commands = [
    newSession({ ...session, name: first, format: "#{session_id}" }),
    ...about.map((command) => command(made)),
    ...(isKept ? [] : [renameSession(made, name)]),
  ];
  return new Promise((resolve, reject) => {
    connection.sendGroup(commands, (outcome) => {
      const id = idOf(outcome.replies?.[0]);
      if (!("error" in outcome)) {
        resolve(id);
        return;
      }
      const refuse = (): void => reject(creationError(name, outcome.error));
      if (id === undefined || connection.closed) refuse();
      else connection.send(killSession(id), "none", refuse);
    });
  });
}

/**
 * `new-session -x -y` alone is not enough: while a person is attached to the server tmux makes new windows as large as
 * that terminal, and 3.2a as large as ours. The window follows its users' terminals afterwards, as any other.
 */
const sizing = (cols: number | undefined, rows: number | undefined): SessionToMake["setUp"] => [
  (made) => resizeWindow(made, cols, rows),
  (made) => unsetWindowOption(made, "window-size"),
];

const idOf = (reply: Reply | undefined): SessionId | undefined =>
  reply === undefined ? undefined : lines(reply.body).find(isSessionId);
