/**
 * Which profile fits a pane, and what its marks and screens mean under it. The profile follows the program in the
 * foreground, which is asked for only when something says that it may be another one; a profile that was given stays until it is withdrawn.
 */
import type { HostProcesses } from "../host/hostProcesses.ts";
import { isOnProcessor, isRunning } from "../panes/foreground.ts";
import { isCalled } from "../host/programNames.ts";
import type { ForegroundProcess } from "../tmux/processes.ts";
import type { Capture } from "../tmux/io.ts";
import type { Clock } from "../time/clock.ts";
import { Evidence } from "./evidence.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "./profile.ts";
import { GENERIC_PROFILE, type Profiles, programName, SHELL_PROFILE } from "./profiles.ts";
import { versionOfProcess, versionOnScreen } from "./programVersion.ts";
import { findPromptBox } from "./promptBox.ts";
import { readScreen, type ScreenReading } from "./screenReading.ts";
import { BLANK_ROW, type Screen, screenOf } from "./screenRows.ts";
import type { StreamMark } from "../panes/vt/streamMarks.ts";
import { hasOnlyShell, isShellGone, isShellReading, processOf, profileOf, type PaneReaders } from "./whoReads.ts";

/** While output flows the agent's process is asked for no more often than this. */
const CHECK_MS = 16;

/** How things stood when a capture began. */
interface ProbeStart {
  readonly evidence: Evidence;
  readonly order: number;
  readonly askedMs: number;
  /** The foreground is asked for with it. */
  readonly asksWho: boolean;
}

/** What outlives an observation of a pane. */
export interface Former {
  /** When an agent was last in front, as far as was known; -Infinity for never. */
  readonly agentSeenMs: number;
  /** The last that was found in front. */
  readonly shownBy: ForegroundProcess | undefined;
  /** The last screen at a moment when that one, or the shell that it left, was certainly still there. */
  readonly shown: Pick<Capture, "historyLines" | "cursor" | "alternateScreen"> | undefined;
  /** Rows that the program before that one has left, by their number with the history, as long as nothing else stands there. */
  readonly left: Map<number, string>;
}

export class PaneClassifier {
  readonly #clock: Clock;
  readonly #processes: HostProcesses;
  readonly #profiles: Profiles;
  #profile: Profile;
  /** Profiles that were given and not withdrawn: the last one stays, whatever runs in the foreground. */
  readonly #given: Profile[] = [];
  #evidence: Evidence;
  #title: string;
  /** When it was heard; a title that was there before counts as older than anything. */
  #titleMs = -Infinity;
  /** It was asked for since the stream began. */
  #isTitleFound = false;
  /** The foreground may be another program by now. */
  #isForegroundStale = true;
  #wantsProbe = false;
  /** Bracketed paste was switched on: what that means depends on who did it. */
  #promptMs: number | undefined;
  /** It was off before. */
  #wasPasteOff = false;
  #isProgramGone = false;
  /** The process that the profile is about, until it has ended. */
  #process: ForegroundProcess | undefined;
  #shownBy: Former["shownBy"];
  #programs = 0;
  /** Of the agent's program. */
  #version: string | undefined;
  /** The processes whose files were asked for it. */
  #versioned = "";
  #checkedMs = -Infinity;
  /** Of the foreground when it was last asked for, whatever profile was given. */
  #isAgentThere = false;
  #agentSeenMs = -Infinity;
  /** Of the foreground when it was last asked for: false while a script or a shell's command reads. */
  #isShellReading: boolean | undefined;
  #isScriptAsking = false;
  /** The foreground when it was last asked for. */
  #readers: string | undefined;
  #shown: Former["shown"];
  #left: Former["left"];

  constructor(clock: Clock, processes: HostProcesses, profiles: Profiles, title: string, former?: Former) {
    this.#clock = clock;
    this.#processes = processes;
    this.#profiles = profiles;
    this.#title = title;
    this.#shownBy = former?.shownBy;
    this.#shown = former?.shown;
    this.#left = former?.left ?? new Map<number, string>();
    this.#profile = profiles.guess({ command: "", title });
    this.#evidence = new Evidence(this.#profile.kind, clock.nowMs());
  }

  get profile(): Profile {
    return this.#profile;
  }

  get evidence(): Evidence {
    return this.#evidence;
  }

  /** The agent's process has ended, or a shell is in the foreground of a pane whose profile says that an agent should be. */
  get isProgramGone(): boolean {
    return this.#isProgramGone;
  }

  get isProgramOnProcessor(): boolean {
    return this.#process !== undefined && isOnProcessor(this.#process, this.#processes);
  }

  /** Counts the processes that were found in front: what one shows is not what another one shows, though it looks the same. */
  get programs(): number {
    return this.#programs;
  }

  /** A shell's script shows what looks like a dialog: it may have been drawn for what it is about to `exec`. */
  get isScriptAsking(): boolean {
    return this.#isScriptAsking;
  }

  /** Of the agent's program, as far as it is known. */
  get version(): string | undefined {
    return this.#version;
  }

  get agentSeenMs(): number {
    return this.#agentSeenMs;
  }

  get former(): Former {
    return { agentSeenMs: this.#agentSeenMs, shownBy: this.#shownBy, shown: this.#shown, left: this.#left };
  }

  /**
   * Asks the system whether the program still runs; when it does not, a capture finds out who is there instead.
   * @param everyMs no more often than that
   */
  checkProcess(everyMs = 0): void {
    const nowMs = this.#clock.nowMs();
    if (this.#isAgentThere && !this.#isProgramGone) this.#agentSeenMs = nowMs;
    if (nowMs - this.#checkedMs >= Math.max(CHECK_MS, everyMs)) this.checkNow();
  }

  /** The same, whenever that was last. */
  checkNow(): void {
    if (this.#process === undefined || this.#isProgramGone) return;
    this.#checkedMs = this.#clock.nowMs();
    if (isRunning(this.#process, this.#processes)) return;
    if (this.#profile.kind === "agent") this.#isProgramGone = true;
    else this.#process = undefined;
    this.#isForegroundStale = true;
    this.#wantsProbe = true;
  }

  /** Once: something was heard that only a capture can make sense of. */
  takeRequest(): boolean {
    const wanted = this.#wantsProbe;
    this.#wantsProbe = false;
    return wanted;
  }

  /** The title as tmux has it, of a pane whose output is not followed. */
  foundTitle(title: string): void {
    const isFirst = !this.#isTitleFound;
    this.#isTitleFound = true;
    if (title === this.#title) return;
    this.#title = title;
    this.#titleMs = isFirst ? -Infinity : this.#clock.nowMs();
    this.#sayTitle();
  }

  /** True: it is another one than before. */
  give(profile: Profile): boolean {
    this.#given.push(profile);
    return this.#stay(profile);
  }

  /** Undoes a `give`: without any the profile follows the foreground again. True: it is another one, or may be. */
  withdraw(profile: Profile): boolean {
    this.#given.splice(this.#given.lastIndexOf(profile), 1);
    const last = this.#given.at(-1);
    if (last !== undefined) return this.#stay(last);
    this.#isForegroundStale = true;
    return true;
  }

  #stay(profile: Profile): boolean {
    // Of several with this name the program's version decides.
    if (profile.name === this.#profile.name) return false;
    this.#become(profile);
    return true;
  }

  /** Another stream, from its beginning: only what did not come from the old one is kept. */
  restart(title: string): void {
    const former = this.#evidence;
    this.#evidence = new Evidence(this.#profile.kind, this.#clock.nowMs());
    this.#evidence.inherit(former, "hook");
    this.#promptMs = undefined;
    this.#isTitleFound = false;
    this.missed();
    this.#wantsProbe = true;
    if (title === this.#title) this.#sayTitle();
    else this.#hearTitle(title);
  }

  /** Output was lost: whatever stood in it. */
  missed(): void {
    this.#isForegroundStale = true;
  }

  /** Its output is followed no more: what stood in it can be taken back by nothing but output. */
  unfollowed(): void {
    for (const source of ["osc7501", "osc133", "bracketedPaste"] as const) this.#evidence.withdraw(source);
    this.missed();
  }

  onMark(mark: StreamMark): void {
    const atMs = this.#clock.nowMs();
    switch (mark.kind) {
      case "title":
        this.#hearTitle(mark.title);
        return;
      case "agentState":
        this.#evidence.say("osc7501", mark.state, atMs);
        return;
      case "shellMark":
        if (this.#profile.kind === "agent") this.#isForegroundStale = true;
        // Ours come from shells whose editor says the same (`?2004`); of a program in one they would say that it is busy.
        if (mark.mark !== "done" && mark.isOurs !== true)
          this.#evidence.say("osc133", mark.mark === "prompt" ? "idle" : "busy", atMs);
        return;
      case "bracketedPaste":
        this.#isForegroundStale = true;
        // A line editor switches it on, but so does a full-screen program that has just been started.
        this.#promptMs = mark.on ? atMs : undefined;
        if (!mark.on) {
          this.#wasPasteOff = true;
          this.#evidence.say("bracketedPaste", "busy", atMs);
        } else if (this.#profile.kind === "shell") this.#wantsProbe = true;
        return;
      case "alternateScreen":
        this.#isForegroundStale = true;
        return;
    }
  }

  beginProbe(): ProbeStart {
    const asksWho = this.#isForegroundStale;
    this.#isForegroundStale = false;
    return { evidence: this.#evidence, order: this.#evidence.order, askedMs: this.#clock.nowMs(), asksWho };
  }

  /** The capture failed. */
  failProbe({ asksWho }: ProbeStart): void {
    if (asksWho) this.#isForegroundStale = true;
  }

  /** @param isCurrent nothing has come since the screen looked like this */
  endProbe(start: ProbeStart, capture: Capture, who: PaneReaders | undefined, isCurrent: boolean): void {
    const isReadingAgain = this.#promptMs !== undefined && this.#wasPasteOff;
    const before = this.#process;
    if (who !== undefined) this.#foreground(who, capture, start.askedMs);
    // What a shell runs comes and goes.
    if (who !== undefined && this.#profile.kind !== "shell")
      this.#found(processOf(this.#profile, who, before), capture);
    this.#learnVersion(who, capture);
    const screen = this.#withoutLeft(capture, screenOf(capture, this.#profile.screen.rows));
    const seen = readScreen(this.#profile, screen);
    // What a script prints may end like a prompt, and it may `exec` an agent at any moment: it is asked for again.
    const isScripts = this.#profile.kind === "shell" && this.#isShellReading === false;
    // A dialog of somebody who may be known by now: it is told once that has been asked.
    const isNobodys =
      !start.asksWho &&
      this.#profile.kind === "generic" &&
      seen.state === "asking" &&
      this.#evidence.reading?.state !== "asking";
    if (isNobodys) {
      this.#isForegroundStale = true;
      this.#wantsProbe = true;
    }
    const reading: ScreenReading = isNobodys || (isScripts && seen.state === "idle") ? { state: "none" } : seen;
    const beforeCursor = isScripts ? "" : screen.beforeCursor;
    this.#isScriptAsking = isScripts && isAsking(GENERIC_PROFILE, capture);
    if (isScripts) this.#isForegroundStale = true;
    else if (who === undefined) this.#doubtForeground(reading);
    // Under another profile there is other evidence, all of it older than the capture.
    const order = start.evidence === this.#evidence ? start.order : this.#evidence.order;
    const isNews = this.#evidence.reading?.state !== reading.state;
    this.#evidence.saw({ reading, order, askedMs: start.askedMs, beforeCursor }, isCurrent);
    if (this.#profile.kind !== "agent") this.#isProgramGone = false;
    else if (who !== undefined) {
      this.#process ??= before;
      const hasEnded = (process: ForegroundProcess | undefined): boolean =>
        process !== undefined && !isRunning(process, this.#processes);
      this.#isProgramGone =
        hasEnded(this.#process) ||
        hasOnlyShell(this.#profile, who, capture, { hasEnded: hasEnded(before), isReadingAgain });
    } else if (this.#isProgramGone || reading.state === "none") {
      this.#isForegroundStale = true;
      this.#wantsProbe ||= isNews;
      // Its screen is gone: before its title says anything, whether it has ended is asked, however lately that was.
      if (isNews) this.#checkedMs = -Infinity;
    }
    const isThere =
      this.#profile.kind === "shell"
        ? who !== undefined && !isScripts
        : this.#process !== undefined && (this.#isProgramGone || isRunning(this.#process, this.#processes));
    const { historyLines, cursor, alternateScreen } = capture;
    if (isThere) this.#shown = { historyLines, cursor, alternateScreen };
  }

  /** An agent that was killed leaves on the screen that it works: above the box of its successor that says nothing. */
  #withoutLeft(capture: Capture, screen: Screen): Screen {
    const { kind } = this.#profile;
    if (kind !== "agent" || this.#left.size === 0) return screen;
    // Directly above it stands its frame.
    const end = (findPromptBox(this.#profile, screen.rows)?.first ?? 0) - 1;
    const above = capture.historyLines + capture.lines.length - screen.rows.length;
    const rows = screen.rows.map((row, index) => {
      if (this.#left.get(above + index) === row.text) return index < end ? BLANK_ROW : row;
      // It has drawn something there itself.
      this.#left.delete(above + index);
      return row;
    });
    return { ...screen, rows };
  }

  #found(process: ForegroundProcess | undefined, capture: Capture): void {
    this.#process = process;
    if (process === undefined) return;
    if (process.pid !== this.#shownBy?.pid || process.start !== this.#shownBy.start) {
      this.#programs += 1;
      // One that goes on is behind the other, and draws with it.
      if (this.#shownBy !== undefined && !isRunning(this.#shownBy, this.#processes)) this.#leave(capture);
    }
    this.#shownBy = process;
  }

  /** Another program is in front, and has drawn nothing yet above the place where the cursor of the one before was. */
  #leave(capture: Capture): void {
    const shown = this.#shown;
    this.#shown = undefined;
    // Where rows have no lasting numbers, nothing is known.
    const { historyLines, lines, alternateScreen } = capture;
    if (shown === undefined || shown.alternateScreen || alternateScreen || historyLines < shown.historyLines) return;
    const { rows } = screenOf(capture, lines.length);
    const own = shown.historyLines + shown.cursor.row;
    this.#left = new Map(
      rows.map(({ text }, index) => [historyLines + index, text] as const).filter(([place]) => place < own),
    );
  }

  #hearTitle(title: string): void {
    if (this.#profile.kind !== "agent" && title !== this.#title) this.#isForegroundStale = true;
    this.#title = title;
    this.#titleMs = this.#clock.nowMs();
    this.#sayTitle();
  }

  #sayTitle(): void {
    const head = this.#title.slice(0, MAX_ROW_CHARACTERS);
    const rule = this.#profile.titles.find(({ pattern }) => pattern.test(head));
    if (rule === undefined) this.#evidence.withdraw("title");
    else this.#evidence.say("title", rule.state, this.#titleMs, rule.ambiguous);
  }

  /** What runs in the foreground now. */
  #foreground(who: PaneReaders, capture: Capture, askedMs: number): void {
    const { title, command, processes } = who;
    // Between two programs nobody is in front: whose the screen is, is known next time.
    const isBetween = processes?.length === 0;
    if (isBetween && programName(command) === "tmux") {
      // A child of tmux's server that has not started its program yet has its name, and shows nothing.
      this.#isForegroundStale = true;
      return;
    }
    const guess = profileOf(this.#profiles, who, capture, this.#profile);
    this.#isShellReading = isShellReading(who);
    this.#isAgentThere = guess.kind === "agent";
    if (this.#isAgentThere) this.#agentSeenMs = this.#clock.nowMs();
    // What a shell runs is the shell's business, unless we know it or it has a prompt of its own.
    const isPast = this.#hasEnded(who);
    const isShellsOwn =
      guess.kind === "generic" &&
      !isShellGone(who) &&
      (this.#profile.kind === "shell" || this.#evidence.isShellsCommand) &&
      (isPast || readScreen(guess, screenOf(capture, guess.screen.rows)).state !== "idle");
    // A process that has only just been made is still called as its parent: who was not there last time is asked for twice.
    const readers = JSON.stringify(processes);
    this.#isForegroundStale ||= isPast || isBetween || readers !== this.#readers;
    this.#readers = readers;
    this.#wantsProbe ||= isPast;
    const fits = isShellsOwn ? SHELL_PROFILE : guess;
    if (this.#given.length === 0 && fits.name !== this.#profile.name) {
      this.#title = title;
      if (this.#profile.kind === "shell") this.#leave(capture);
      this.#become(fits);
    }
    const promptMs = this.#promptMs;
    if (promptMs === undefined) return;
    // Whoever switched it on after this was asked, or before anybody was in the foreground, is known next time.
    const isNextTimes = isBetween || promptMs > askedMs;
    this.#isForegroundStale ||= isNextTimes;
    this.#wantsProbe ||= promptMs > askedMs;
    if (isNextTimes) return;
    this.#promptMs = undefined;
    this.#wasPasteOff = false;
    const isShells = guess.kind === "shell" && this.#profile.kind === "shell" && this.#isShellReading !== false;
    if (isShells) this.#evidence.say("bracketedPaste", "idle", promptMs);
  }

  /** Files are asked once per process; what it has drawn of itself counts while they do not tell. */
  #learnVersion(who: PaneReaders | undefined, capture: Capture): void {
    const { kind, name, programs } = this.#profile;
    if (kind !== "agent") return;
    if (who?.processes !== undefined) {
      const its = who.processes.filter(({ names }) => isCalled(names, programs));
      const asked = its.map(({ pid, start, executable }) => `${pid} ${start} ${executable}`).join();
      if (asked !== "" && asked !== this.#versioned) {
        this.#versioned = asked;
        this.#version = undefined;
        for (const { pid } of its) this.#version ??= versionOfProcess(pid, programs, this.#processes);
      }
    }
    this.#version ??= versionOnScreen(this.#profile, capture);
    const fits = this.#profiles.named(name, this.#version);
    if (fits !== this.#profile) this.#become(fits);
  }

  /** What ran in the foreground has ended since it was asked for: the screen is already somebody else's. */
  #hasEnded({ processes = [] }: PaneReaders): boolean {
    const programs = processes.filter(({ isShell }) => !isShell);
    return programs.length > 0 && programs.every((program) => !isRunning(program, this.#processes));
  }

  /** A prompt where none was expected, or another one: somebody else may be reading. */
  #doubtForeground(reading: ScreenReading): void {
    if (this.#profile.kind === "agent" || reading.state !== "idle") return;
    const before = this.#evidence.reading;
    const isKnown = before?.state === "idle" && before.prompt === reading.prompt;
    if (isKnown && !this.#evidence.isShellsCommand) return;
    this.#isForegroundStale = true;
    this.#wantsProbe = true;
  }

  #become(profile: Profile): void {
    const former = this.#evidence;
    const isSameProgram = profile.name === this.#profile.name;
    const wasAnotherAgent = this.#profile.kind === "agent" && !isSameProgram;
    this.#profile = profile;
    if (!isSameProgram) {
      this.#isProgramGone = false;
      this.#process = undefined;
      this.#version = undefined;
      this.#versioned = "";
    }
    this.#evidence = new Evidence(profile.kind, this.#clock.nowMs());
    // An agent's words end with it; those of one that has just been recognised may have come before.
    if (!wasAnotherAgent) {
      this.#evidence.inherit(former, "hook");
      this.#evidence.inherit(former, "osc7501");
    }
    this.#evidence.inherit(former, "osc133");
    this.#evidence.inherit(former, "bracketedPaste");
    this.#sayTitle();
  }
}

const isAsking = (profile: Profile, capture: Capture): boolean =>
  readScreen(profile, screenOf(capture, profile.screen.rows)).state === "asking";
