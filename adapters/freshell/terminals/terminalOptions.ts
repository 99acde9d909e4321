/**
 * The user options that make a pane a terminal, so that terminals outlive the daemon. `freshell` holds the terminal's id, the
 * others what its entry and a respawn need. Anyone with access to the tmux socket can set them too: values are validated,
 * and trusted no further.
 */
import {
  type MadeFor,
  madeForSchema,
  TERMINAL_ID,
  TERMINAL_MODES,
  type TerminalMode,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import { matches } from "../../../protocol/api/parse.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { PaneUserOptions } from "../../../daemon/tmux/userOptions.ts";

export const SEQ_OPTION = "freshell_seq";
/** Made for a device's pane, and no pane has been confirmed to show it. */
const ORPHAN_OPTION = "freshell_orphan";
/** The pane it was made for: device, tab and pane, whose ids hold no blanks. */
const MADE_FOR_OPTION = "freshell_made_for";
const [ID_OPTION, TITLE_OPTION, CWD_OPTION, SHELL_OPTION, RESUME_OPTION] = [
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

interface StoredTerminal extends TerminalIdentity {
  readonly pane: PaneId;
  /** Of two panes of one terminal the later one counts: a respawn was interrupted. */
  readonly generation: number;
  /** No `outputSeq` above this has been reported. */
  readonly reservedSeq: number;
  readonly isOrphan: boolean;
  readonly madeFor: MadeFor | undefined;
}

/** For a new pane. */
export function userOptionsOf(
  identity: TerminalIdentity,
  {
    generation,
    reservedSeq,
    isOrphan,
    madeFor,
  }: Pick<StoredTerminal, "generation" | "reservedSeq" | "isOrphan" | "madeFor">,
): Record<string, string> {
  const { id, createdAt, mode, shell, cwd, title, resumeSessionId } = identity;
  return {
    [ID_OPTION]: `${id}.${generation}.${createdAt}.${mode}`,
    [SEQ_OPTION]: String(reservedSeq),
    [TITLE_OPTION]: title,
    [CWD_OPTION]: cwd,
    [SHELL_OPTION]: shell,
    ...(resumeSessionId === undefined ? {} : { [RESUME_OPTION]: resumeSessionId }),
    ...(isOrphan ? { [ORPHAN_OPTION]: "1" } : {}),
    ...(madeFor === undefined ? {} : { [MADE_FOR_OPTION]: `${madeFor.deviceId} ${madeFor.tabId} ${madeFor.paneId}` }),
  };
}

/** The newest pane of each terminal, oldest terminal first, asked of tmux. @throws AppError CONNECTION_LOST */
export async function readTerminals(server: PaneUserOptions): Promise<readonly StoredTerminal[]> {
  const newest = new Map<string, StoredTerminal>();
  for (const stored of await readPanes(server)) {
    const other = newest.get(stored.id);
    if (other === undefined || other.generation < stored.generation) newest.set(stored.id, stored);
  }
  return [...newest.values()].toSorted((a, b) => a.createdAt - b.createdAt);
}

async function readPanes(server: PaneUserOptions): Promise<readonly StoredTerminal[]> {
  const [ids, seqs, titles, cwds, shells, resumes, orphans, madeFor] = await Promise.all(
    [ID_OPTION, SEQ_OPTION, TITLE_OPTION, CWD_OPTION, SHELL_OPTION, RESUME_OPTION, ORPHAN_OPTION, MADE_FOR_OPTION].map(
      (name) => server.paneUserOptions(name),
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
        madeFor: madeForOf(madeFor?.get(pane)),
      },
    ];
  });
}

function madeForOf(text: string | undefined): MadeFor | undefined {
  const [deviceId, tabId, paneId] = text?.split(" ") ?? [];
  const given = { deviceId, tabId, paneId };
  return matches(madeForSchema, given) ? given : undefined;
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
    const removed = server.setPaneUserOption(terminal.pane, ORPHAN_OPTION, undefined);
    void removed.catch((error: unknown) => log.debug("freshell.orphan.unmarked", { error }));
  }
  return true;
}
