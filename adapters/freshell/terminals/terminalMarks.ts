/**
 * The user options that make a pane a terminal, so that terminals outlive the daemon. `freshell` holds the terminal's id, the
 * others what its entry and a respawn need. Anyone with access to the tmux socket can set them too: values are validated,
 * and trusted no further.
 */
import { TERMINAL_MODES, type TerminalMode } from "../../../protocol/api/freshell/freshellHttp.ts";
import { TERMINAL_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { PaneUserOptions } from "../../../daemon/tmux/userOptions.ts";

export const SEQ_MARK = "freshell_seq";
/** Made for a device's pane, and no pane has been confirmed to show it. */
const ORPHAN_MARK = "freshell_orphan";
const [ID_MARK, TITLE_MARK, CWD_MARK, SHELL_MARK, RESUME_MARK] = [
  "freshell",
  "freshell_title",
  "freshell_cwd",
  "freshell_shell",
  "freshell_resume",
] as const;

/** What stays the same for a terminal's lifetime. */
export interface TerminalIdentity {
  readonly id: string;
  readonly createdAt: number;
  readonly mode: TerminalMode;
  /** As requested. */
  readonly shell: string;
  readonly cwd: string;
  readonly title: string;
  readonly resumeSessionId: string | undefined;
}

export interface MarkedPane extends TerminalIdentity {
  readonly pane: PaneId;
  /** Of two panes of one terminal the later one counts: a respawn was interrupted. */
  readonly generation: number;
  /** No `outputSeq` above this has been reported. */
  readonly reservedSeq: number;
  readonly isOrphan: boolean;
}

/** For a new pane. */
export function marksOf(
  identity: TerminalIdentity,
  generation: number,
  reservedSeq: number,
  isOrphan: boolean,
): Record<string, string> {
  const { id, createdAt, mode, shell, cwd, title, resumeSessionId } = identity;
  return {
    [ID_MARK]: `${id}.${generation}.${createdAt}.${mode}`,
    [SEQ_MARK]: String(reservedSeq),
    [TITLE_MARK]: title,
    [CWD_MARK]: cwd,
    [SHELL_MARK]: shell,
    ...(resumeSessionId === undefined ? {} : { [RESUME_MARK]: resumeSessionId }),
    ...(isOrphan ? { [ORPHAN_MARK]: "1" } : {}),
  };
}

/** The newest pane of each terminal, oldest terminal first, asked of tmux. @throws AppError CONNECTION_LOST */
export async function readTerminals(server: PaneUserOptions): Promise<readonly MarkedPane[]> {
  const newest = new Map<string, MarkedPane>();
  for (const marked of await readMarkedPanes(server)) {
    const other = newest.get(marked.id);
    if (other === undefined || other.generation < marked.generation) newest.set(marked.id, marked);
  }
  return [...newest.values()].toSorted((a, b) => a.createdAt - b.createdAt);
}

async function readMarkedPanes(server: PaneUserOptions): Promise<readonly MarkedPane[]> {
  const [ids, seqs, titles, cwds, shells, resumes, orphans] = await Promise.all(
    [ID_MARK, SEQ_MARK, TITLE_MARK, CWD_MARK, SHELL_MARK, RESUME_MARK, ORPHAN_MARK].map((mark) =>
      server.paneUserOptions(mark),
    ),
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
        isOrphan: orphans?.has(pane) === true,
      },
    ];
  });
}

const isMode = (text: string): text is TerminalMode => (TERMINAL_MODES as readonly string[]).includes(text);
const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;

/** Records whether a device's pane shows it; the pane option follows asynchronously. False: no change. */
export function notePlace(
  { server, log }: { readonly server: PaneUserOptions; readonly log: Log },
  terminal: { place: "unsure" | "orphan" | undefined; readonly pane: PaneId | undefined },
  isShown: boolean,
): boolean {
  const before = terminal.place;
  terminal.place = isShown ? undefined : "orphan";
  if (before === terminal.place) return false;
  if (isShown && terminal.pane !== undefined) {
    const unmarked = server.setPaneUserOption(terminal.pane, ORPHAN_MARK, undefined);
    void unmarked.catch((error: unknown) => log.debug("freshell.orphan.unmarked", { error }));
  }
  return true;
}
