/**
 * What makes a pane a terminal, noted on the pane itself, so that a terminal outlives the daemon. `freshell` says which
 * terminal it is, the others what its entry and a respawn need. Whoever may use the tmux socket can set these too: what is
 * read is checked, and is only as good as that.
 */
import { TERMINAL_MODES, type TerminalMode } from "../../../protocol/api/freshell/freshellHttp.ts";
import { TERMINAL_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { PaneUserOptions } from "../../../daemon/tmux/userOptions.ts";

export const SEQ_MARK = "freshell_seq";
const [ID_MARK, TITLE_MARK, CWD_MARK, SHELL_MARK, RESUME_MARK] = [
  "freshell",
  "freshell_title",
  "freshell_cwd",
  "freshell_shell",
  "freshell_resume",
] as const;

/** What stays of a terminal for as long as there is one. */
export interface TerminalIdentity {
  readonly id: string;
  readonly createdAt: number;
  readonly mode: TerminalMode;
  /** As it was asked for. */
  readonly shell: string;
  readonly cwd: string;
  readonly title: string;
  readonly resumeSessionId: string | undefined;
}

export interface MarkedPane extends TerminalIdentity {
  readonly pane: PaneId;
  /** Of two panes of one terminal the later one is it: a respawn was cut short. */
  readonly generation: number;
  /** No `outputSeq` above this has been told. */
  readonly reservedSeq: number;
}

/** For a new pane. */
export function marksOf(identity: TerminalIdentity, generation: number, reservedSeq: number): Record<string, string> {
  const { id, createdAt, mode, shell, cwd, title, resumeSessionId } = identity;
  return {
    [ID_MARK]: `${id}.${generation}.${createdAt}.${mode}`,
    [SEQ_MARK]: String(reservedSeq),
    [TITLE_MARK]: title,
    [CWD_MARK]: cwd,
    [SHELL_MARK]: shell,
    ...(resumeSessionId === undefined ? {} : { [RESUME_MARK]: resumeSessionId }),
  };
}

/** Every pane that is a terminal, asked of tmux. @throws AppError CONNECTION_LOST */
export async function readMarkedPanes(server: PaneUserOptions): Promise<readonly MarkedPane[]> {
  const [ids, seqs, titles, cwds, shells, resumes] = await Promise.all(
    [ID_MARK, SEQ_MARK, TITLE_MARK, CWD_MARK, SHELL_MARK, RESUME_MARK].map((mark) => server.paneUserOptions(mark)),
  );
  return [...(ids ?? [])].flatMap(([pane, value]) => {
    const [id = "", generation, createdAt, mode = ""] = value.split(".");
    const numbers = [generation, createdAt, seqs?.get(pane) ?? "0"].map(Number);
    if (!TERMINAL_ID.test(id) || !isMode(mode) || !numbers.every((number) => isCount(number))) return [];
    return [
      {
        pane,
        id,
        mode,
        generation: numbers[0]!,
        createdAt: numbers[1]!,
        reservedSeq: numbers[2]!,
        title: titles?.get(pane) ?? mode,
        cwd: cwds?.get(pane) ?? "/",
        shell: shells?.get(pane) ?? "system",
        resumeSessionId: resumes?.get(pane),
      },
    ];
  });
}

const isMode = (text: string): text is TerminalMode => (TERMINAL_MODES as readonly string[]).includes(text);
const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;
