/**
 * Creates a session in one step with everything that must be set when its program starts (docs/tmuxFacts.md 34). A command on
 * the same line can refer to the session only by its name, and tmux changes some names, differently in each version
 * (docs/tmuxFacts.md, Versions). Such a session is created under a temporary name and renamed last. From the next line on it
 * is known by its id. If a later command of the step fails, the session is removed.
 */
import {
  type JustMade,
  endingInNextTurn,
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

/** Names that every tmux keeps unchanged and finds by `=NAME:`. */
const KEPT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/;

export interface SessionToMake extends Omit<NewSession, "format"> {
  /** Commands for the session, its window or its pane. */
  readonly setUp: readonly ((made: JustMade) => string)[];
}

/** Returns its id; undefined if it ended immediately. @throws AppError ALREADY_EXISTS, RESOURCE_LIMIT and others */
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
      else connection.sendGroup(endingInNextTurn(killSession(id)), refuse);
    });
  });
}

/**
 * `new-session -x -y` alone is not enough: while a person is attached to the server, tmux makes new windows as large as that
 * terminal, and 3.2a as large as ours. Afterwards the window follows its users' terminals, like any other.
 */
const sizing = (cols: number | undefined, rows: number | undefined): SessionToMake["setUp"] => [
  (made) => resizeWindow(made, cols, rows),
  (made) => unsetWindowOption(made, "window-size"),
];

const idOf = (reply: Reply | undefined): SessionId | undefined =>
  reply === undefined ? undefined : lines(reply.body).find(isSessionId);
