/** Starts an agent: which, where, with which prompt, and whether in a worktree of its own. */
import { useState } from "preact/hooks";
import { AGENTS } from "../../../../pages/knownAgents.ts";
import { Button } from "../../../../pages/controls.tsx";
import { Dialog } from "../../../../pages/dialog.tsx";
import type { AgentCard } from "../../model/agentCard.ts";
import type { Page } from "../../page.ts";
import { Problem } from "../problem.tsx";
import { THIS_MACHINE } from "../../words/stateWords.ts";

interface StartDialogProps {
  readonly cards: readonly AgentCard[];
  /** Other machines on which one can be started. */
  readonly hosts: readonly string[];
  /** Its agent and directory are offered. */
  readonly like: AgentCard | undefined;
  readonly page: Page;
}

const MAX_ROWS = 10;
/** No host has this name. */
const HERE = "";

export function StartDialog({ cards, hosts, like, page }: StartDialogProps) {
  const [agent, setAgent] = useState(like?.running?.agent ?? AGENTS[0]?.name ?? "");
  const likeHost = like?.far?.host;
  const [host, setHost] = useState(likeHost !== undefined && hosts.includes(likeHost) ? likeHost : HERE);
  const [cwd, setCwd] = useState(like?.running?.cwd ?? like?.project_path ?? "");
  const [name, setName] = useState("");
  const [prompt, setPrompt] = useState("");
  const [worktree, setWorktree] = useState(false);
  const [problem, setProblem] = useState("");
  const [isStarting, setStarting] = useState(false);
  const there = cards.filter(({ far }) => (far?.host ?? HERE) === host);
  const directories = [...new Set(there.flatMap((card) => [card.running?.cwd, card.project_path]).filter(Boolean))];
  // Its directories are its own.
  const choose = (next: string): void => {
    setHost(next);
    setCwd("");
  };
  const start = async (event: Event): Promise<void> => {
    event.preventDefault();
    setStarting(true);
    setProblem("");
    const request = {
      agent,
      ...(cwd.trim() === "" ? {} : { cwd: cwd.trim() }),
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      ...(prompt.trim() === "" ? {} : { prompt }),
      ...(worktree ? { worktree } : {}),
    };
    const started = await page.actions.start(request, host === HERE ? undefined : host);
    setStarting(false);
    if (started.isDone) page.update({ startOpen: false, announcement: started.words });
    else setProblem(started.words);
  };
  return (
    <Dialog kind="start" title="Start an agent" onClose={() => page.update({ startOpen: false })}>
      <form class="form" onSubmit={(event) => void start(event)}>
        <label>
          Agent
          <select class="text" value={agent} onChange={(event) => setAgent(event.currentTarget.value)}>
            {AGENTS.map((one) => (
              <option key={one.name} value={one.name}>
                {one.label}
              </option>
            ))}
          </select>
        </label>
        {hosts.length === 0 ? null : (
          <label>
            Host
            <select class="text" value={host} onChange={(event) => choose(event.currentTarget.value)}>
              <option value={HERE}>{THIS_MACHINE}</option>
              {hosts.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Directory
          <input
            class="text"
            list="directories"
            placeholder="your home directory"
            value={cwd}
            spellcheck={false}
            onInput={(event) => setCwd(event.currentTarget.value)}
          />
        </label>
        <datalist id="directories">
          {directories.map((directory) => (
            <option key={directory} value={directory ?? ""} />
          ))}
        </datalist>
        <label>
          Name
          <input
            class="text"
            placeholder="by itself"
            value={name}
            maxLength={64}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label>
          Prompt
          <textarea
            class="text"
            rows={Math.min(MAX_ROWS, Math.max(3, prompt.split("\n").length))}
            value={prompt}
            onInput={(event) => setPrompt(event.currentTarget.value)}
          />
        </label>
        <label class="check">
          <input type="checkbox" checked={worktree} onChange={(event) => setWorktree(event.currentTarget.checked)} />
          In a git worktree of its own
        </label>
        <Problem words={problem} />
        <Button kind="primary" disabled={isStarting}>
          {isStarting ? "Starting…" : "Start"}
        </Button>
      </form>
    </Dialog>
  );
}
