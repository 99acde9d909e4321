/** The database's migrations, in order. Additive only: new columns are nullable, so that an older daemon can open it again. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  CREATE TABLE projects (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, path TEXT NOT NULL UNIQUE, branch TEXT
  ) STRICT;
  CREATE TABLE agents (
    id INTEGER PRIMARY KEY, session_uuid TEXT NOT NULL UNIQUE, claude_session_id TEXT,
    project_id INTEGER NOT NULL REFERENCES projects(id),
    tmux_pane_id TEXT, pane_server TEXT, tmux_session TEXT, iterm_pane_id TEXT, transcript_path TEXT,
    started_unix_ms INTEGER NOT NULL, last_seen_unix_ms INTEGER NOT NULL, ended_unix_ms INTEGER
  ) STRICT;
  CREATE INDEX agents_by_session ON agents (claude_session_id);
  CREATE INDEX agents_by_end ON agents (ended_unix_ms);
  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, agent_id INTEGER NOT NULL REFERENCES agents(id), state TEXT NOT NULL, instruction TEXT,
    started_unix_ms INTEGER NOT NULL, state_unix_ms INTEGER NOT NULL, completed_unix_ms INTEGER
  ) STRICT;
  CREATE INDEX tasks_by_agent ON tasks (agent_id);
  CREATE TABLE turns (
    id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks(id),
    agent_id INTEGER NOT NULL REFERENCES agents(id), actor TEXT NOT NULL, intent TEXT NOT NULL, text TEXT NOT NULL,
    tool TEXT, kind TEXT, tool_input TEXT, answers_turn_id INTEGER, echo_pending INTEGER NOT NULL, created_unix_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX turns_by_task ON turns (task_id);
  CREATE INDEX turns_by_agent ON turns (agent_id);
  CREATE TABLE answers (
    agent_id INTEGER NOT NULL REFERENCES agents(id), key TEXT NOT NULL, request_hash TEXT NOT NULL,
    status INTEGER, body TEXT, at_unix_ms INTEGER NOT NULL, PRIMARY KEY (agent_id, key)
  ) STRICT;
  CREATE INDEX answers_by_age ON answers (at_unix_ms);
  `,
  // {pid, start, executable?}: who an agent is among the processes of this machine.
  `ALTER TABLE agents ADD COLUMN process TEXT;`,
  // Status and body of an answer as one value; `isKept` as all that are kept.
  `ALTER TABLE answers ADD COLUMN response TEXT;
  UPDATE answers SET response = json_object('status', status, 'body', json(body), 'isKept', json('true'))
    WHERE body IS NOT NULL;`,
];
