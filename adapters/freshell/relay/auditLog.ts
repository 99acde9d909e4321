/**
 * Who requested what of which device, and the outcome: one JSON line for each request to an owner, refused ones too, written
 * before the response. Never arguments, text or tokens.
 *
 * Mutations are noted in a second file before they are sent. So a full disk refuses them in time, that file's space can be
 * freed for the line if the disk fills up meanwhile, and a request left without a line by a killed daemon gets one at the
 * next start.
 */
import { join } from "node:path";
import type { Timer } from "../../../daemon/time/clock.ts";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import type { FaultStage } from "../../../protocol/api/freshell/freshellErrors.ts";
import type { RpcRequest } from "../../../protocol/api/freshell/rpc.ts";
import { AppError } from "../../../protocol/errors.ts";
import { AUDIT_FILE_BYTES, AUDIT_FILES } from "../freshellLimits.ts";
import { LineFile } from "./lineFile.ts";

/** Its eight fields, in this order (seed 002 §12.4). */
interface AuditLine {
  readonly requestId: string;
  readonly callerDeviceId: string;
  readonly targetDeviceId: string;
  readonly command: string;
  /** `late`: a result after the request was given up. */
  readonly result: "ok" | "error" | "late";
  readonly errorCode: string | null;
  readonly stage: FaultStage | null;
  readonly timestamp: string;
}
type AuditResult = Pick<AuditLine, "result" | "errorCode" | "stage">;
export type AuditedRequest = Pick<RpcRequest, "requestId" | "callerDeviceId" | "targetDeviceId" | "command">;

interface AuditLogOptions extends Surroundings {
  readonly folder: string;
  readonly maxBytes?: number | undefined;
}

/** Past it notes of completed requests are dropped at once, otherwise after a moment: their lines exist, so they do no harm. */
const MAX_NOTES_BYTES = 1_048_576;
const NOTES_KEPT_MS = 500;
/** How far back the lines for leftover notes are searched. */
const SEARCHED_BYTES = 4_194_304;

export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #lines: LineFile;
  readonly #notes: LineFile;
  /** Noted and not completed, each with its note. */
  readonly #open = new Map<AuditedRequest, string>();
  #forgetting: Timer | undefined;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    const { folder, clock, maxBytes = AUDIT_FILE_BYTES } = options;
    this.#lines = new LineFile({ path: join(folder, "remote-control.jsonl"), maxBytes, files: AUDIT_FILES, clock });
    this.#notes = new LineFile({ path: join(folder, "remote-control.begun"), maxBytes: Infinity, files: 1, clock });
    try {
      this.#completeNotes();
    } catch (error) {
      // Each request tries again.
      options.log.error("freshell.audit.unusable", { folder, error });
    }
  }

  /** Call before a mutation is sent. @throws AppError INTERNAL_ERROR: it must not be sent */
  begin(request: AuditedRequest): void {
    const note = JSON.stringify(fieldsOf(request));
    try {
      this.#lines.ready();
      this.#notes.append(note);
      this.#open.set(request, note);
    } catch (error) {
      throw this.#unwritten(error, "nothing was done");
    }
  }

  /** Call before the response. @throws AppError INTERNAL_ERROR */
  end(request: AuditedRequest, { result, errorCode, stage }: AuditResult): void {
    const timestamp = new Date(this.#options.nowUnixMs()).toISOString();
    const rest: Omit<AuditLine, keyof AuditedRequest> = { result, errorCode, stage, timestamp };
    const note = this.#open.get(request);
    const wasNoted = this.#open.delete(request);
    try {
      // A line begins like its note.
      this.#append(`${(note ?? JSON.stringify(fieldsOf(request))).slice(0, -1)},${JSON.stringify(rest).slice(1)}`);
    } catch (error) {
      throw this.#unwritten(error, "read the layout before you continue");
    } finally {
      if (wasNoted) this.#forgetNotes();
    }
  }

  close(): void {
    this.#forgetting?.cancel();
    this.#forgetting = undefined;
    this.#lines.close();
    this.#notes.close();
  }

  #append(line: string): void {
    try {
      this.#lines.append(line);
    } catch (error) {
      if (this.#notes.size === 0) throw error;
      // Frees its reserved space.
      this.#notes.clear();
      this.#lines.append(line);
    }
  }

  #forgetNotes(): void {
    const { clock } = this.#options;
    if (this.#notes.size > MAX_NOTES_BYTES) this.#rewriteNotes();
    else this.#forgetting ??= clock.callAt(clock.nowMs() + NOTES_KEPT_MS, () => this.#rewriteNotes());
  }

  #rewriteNotes(): void {
    this.#forgetting?.cancel();
    this.#forgetting = undefined;
    try {
      if (this.#notes.size > 0) this.#notes.clear();
      for (const note of this.#open.values()) this.#notes.append(note);
    } catch (error) {
      this.#options.log.warn("freshell.audit.notes", { error });
    }
  }

  /** Completes the notes of a daemon that was killed; the outcomes are unknown. */
  #completeNotes(): void {
    const isDone = new Set(this.#lines.tail(SEARCHED_BYTES).map(keyOf));
    const timestamp = new Date(this.#options.nowUnixMs()).toISOString();
    for (const note of this.#notes.tail(MAX_NOTES_BYTES * 2)) {
      const key = keyOf(note);
      if (key === undefined || isDone.has(key)) continue;
      isDone.add(key);
      const unknown: AuditResult = { result: "error", errorCode: "INTERNAL_ERROR", stage: "relay" };
      this.#lines.append(JSON.stringify({ ...(JSON.parse(key) as object), ...unknown, timestamp }));
    }
    this.#notes.clear();
  }

  #unwritten(error: unknown, hint: string): AppError {
    const { folder, log } = this.#options;
    log.error("freshell.audit.unwritten", { folder, error });
    return new AppError(
      "INTERNAL_ERROR",
      `cannot write the audit in ${folder}; free disk space, or restore write access`,
      {
        details: { cause: "audit", hint },
        cause: error,
      },
    );
  }
}

const fieldsOf = ({ requestId, callerDeviceId, targetDeviceId, command }: AuditedRequest): AuditedRequest => ({
  requestId,
  callerDeviceId,
  targetDeviceId,
  command,
});

/** What a line and its note have in common. */
function keyOf(line: string): string | undefined {
  try {
    return JSON.stringify(fieldsOf(JSON.parse(line) as AuditedRequest));
  } catch {
    return undefined;
  }
}
