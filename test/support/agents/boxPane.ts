/** A program with a prompt box, above a pane that is moved by hand; and the process that it is, as a host reports it. */
import { DeliveryEngine } from "../../../daemon/delivery/deliveryEngine.ts";
import type { SubmitRequest } from "../../../daemon/delivery/delivery.ts";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import type { ProcessStat } from "../../../daemon/host/procfs.ts";
import { FakePane, type Typed } from "./fakePane.ts";

export const RULE = "─".repeat(40);

interface BoxGiven extends Partial<Pick<BoxPane, "box" | "above" | "enter">> {
  readonly title?: string;
}

/** A program with a box between rules: what it says above, and what it does at Enter, is the test's. */
export class BoxPane extends FakePane {
  readonly prefix: string;
  box = "";
  above: string[] = [];
  /** Gets what stood in the box. */
  enter: (text: string) => void = (text) => this.above.push(`> ${text}`);

  constructor(profile: "claude" | "gemini" | "pi", { title = "", ...given }: BoxGiven = {}) {
    super(profile);
    Object.assign(this, given);
    this.prefix = { claude: "❯ ", gemini: "> ", pi: "" }[profile];
    this.say(`\u001b[?2004h${title}`);
    this.answer = ({ paste, keys }) => {
      if (paste !== undefined) this.box += paste;
      if (keys?.[0] === "C-u") this.box = "";
      if (keys?.[0] === "Enter") {
        const text = this.box;
        this.box = "";
        this.enter(text);
      }
      this.show();
    };
    this.show();
  }

  show(): void {
    const row = this.prefix + this.box;
    this.draw([...this.above, RULE, row, RULE], { col: row.length, row: this.above.length + 1 });
  }

  get pastes(): readonly string[] {
    return this.typed.flatMap(({ paste }) => paste ?? []);
  }

  get enters(): readonly Typed[] {
    return this.typed.filter(({ keys }) => keys?.[0] === "Enter");
  }
}

export const deliveryTo = ({ readiness, clock }: FakePane) =>
  new DeliveryEngine({ readiness, clock, nowUnixMs: () => 0 });

export const submit = (pane: FakePane, more: Partial<SubmitRequest> = {}) =>
  deliveryTo(pane).submit({ server: pane.server, pane: pane.pane, text: "fix it", ...more });

const [PANE_PID, PID] = [5, 20];
const TERM = 1n << 14n;

/** A process in front of a pane, for a host that reports processes. @param start by default long ago */
export const inFront = (pane: FakePane, name: string, start?: string): FakeProgram =>
  new FakeProgram(pane, name, start);

class FakeProgram {
  /** As the kernel says it. */
  readonly stat: { -readonly [Key in keyof ProcessStat]?: ProcessStat[Key] };
  signals = { pending: 0n, caught: TERM };
  isRunning = false;
  /** Undefined: the host does not report it. */
  bytesRead: number | undefined;

  constructor(pane: FakePane, name: string, start = "100") {
    this.stat = { pid: PID, start, name, state: "S", group: PID, foregroundGroup: PID, terminal: 1 };
    const processes = {
      reportsNow: true,
      statNow: (pid: number) =>
        pid === PID ? this.stat : pid === PANE_PID ? { ...this.stat, pid, start: "1" } : undefined,
      executableNow: () => name,
      signalsNow: (pid: number) => (pid === PID ? this.signals : undefined),
      isRunningNow: () => this.isRunning,
      bytesReadNow: () => this.bytesRead,
      wordsNow: () => [name],
      childrenNow: () => [],
      hasTerminalInputNow: () => true,
    } as unknown as HostProcesses;
    Object.assign(pane.server, { processes, findPane: () => ({ exit: undefined, pid: PANE_PID }) });
    const seen = { pid: PID, start, executable: name, names: [name], depth: 0 };
    pane.foreground = {
      pid: PANE_PID,
      command: name,
      processes: [{ ...seen, isShell: false, isInteractiveShell: false }],
    };
  }
}
