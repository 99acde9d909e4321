/**
 * The registry of the daemon's recordings, active and finished, in their own folder under generated names. The folder's size
 * is bounded: an active recording counts with its size limit, and the oldest finished ones are removed to make room.
 */
import { randomBytes } from "node:crypto";
import { mkdir, rm, stat } from "node:fs/promises";
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { Feeds } from "../panes/feeds.ts";
import type { Surroundings } from "../ops/log.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { CastEnd } from "./recordingEncoder.ts";
import { Recording, type RecordingRequest } from "./recording.ts";
import { type KeptRecording, readRecordings, recordingId, recordingPath } from "./recordingFiles.ts";
import { MAX_FOLDER_BYTES, MAX_RECORDING_AGE_MS, MAX_RECORDINGS_UNDER_WAY } from "./recordingLimits.ts";

interface RecordingRegistryOptions extends Surroundings {
  readonly folder: string;
  /** Tests use less. */
  readonly maxFolderBytes?: number | undefined;
}

export interface RecordingInfo extends KeptRecording {
  readonly isRecording: boolean;
  /** Undefined for a recording that ended before this daemon started. */
  readonly durationMs: number | undefined;
  readonly gaps: number | undefined;
  readonly end: CastEnd | undefined;
}

interface StartOptions extends RecordingRequest {
  readonly serverName: string;
  readonly server: TmuxServer;
  readonly pane: PaneId;
}

/** A recording that this daemon started. */
interface Made {
  readonly kept: Omit<KeptRecording, "bytes">;
  readonly maxBytes: number;
  readonly recording: Recording;
}

export class RecordingRegistry {
  readonly #options: RecordingRegistryOptions;
  readonly #feeds = new WeakMap<TmuxServer, Feeds>();
  readonly #made = new Map<string, Made>();
  readonly #kept = new Map<string, KeptRecording>();
  /** Recordings that are starting and are in no map yet. */
  readonly #beginning = new Set<RecordingRequest>();
  #closed = false;

  private constructor(options: RecordingRegistryOptions) {
    this.#options = options;
  }

  /** Opens the folder and repairs what an earlier daemon left. */
  static async open(options: RecordingRegistryOptions): Promise<RecordingRegistry> {
    const registry = new RecordingRegistry(options);
    for (const kept of await readRecordings(options.folder)) registry.#kept.set(kept.id, kept);
    await registry.#makeRoom();
    return registry;
  }

  /** @throws AppError NOT_FOUND, CONNECTION_LOST, RESOURCE_LIMIT, SHUTTING_DOWN */
  async start({ serverName, server, pane, ...request }: StartOptions): Promise<RecordingInfo> {
    const { folder, clock, nowUnixMs, log } = this.#options;
    if (this.#closed) throw shuttingDown();
    if (this.#underWay().length + this.#beginning.size >= MAX_RECORDINGS_UNDER_WAY) {
      throw new AppError("RESOURCE_LIMIT", `${MAX_RECORDINGS_UNDER_WAY} recordings are already active; stop one`);
    }
    this.#beginning.add(request);
    try {
      await this.#makeRoom();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const startedUnixMs = nowUnixMs();
      const id = recordingId(startedUnixMs, randomBytes(4).toString("hex"));
      const kept = {
        id,
        path: recordingPath(folder, id),
        server: serverName,
        pane,
        version: request.version,
        input: request.input,
        startedUnixMs,
      };
      const recording = await Recording.start({
        ...request,
        path: kept.path,
        source: { server: serverName, pane },
        feeds: this.#feedsOf(server),
        clock,
        startedUnixMs,
        failed: (error) => log.error("recording.failed", { id, error }),
      });
      const made = { kept, recording, maxBytes: request.maxBytes };
      this.#made.set(id, made);
      if (this.#closed) await recording.stop("daemon");
      return infoOf(made);
    } finally {
      this.#beginning.delete(request);
    }
  }

  /** Oldest first. */
  list(): readonly RecordingInfo[] {
    const kept = [...this.#kept.values()].map(keptInfo);
    return [...kept, ...[...this.#made.values()].map(infoOf)];
  }

  /** Resolves once its file is complete. @throws AppError NOT_FOUND */
  async stop(id: string): Promise<RecordingInfo> {
    const made = this.#made.get(id);
    if (made === undefined) return keptInfo(this.#requireKept(id));
    await made.recording.stop("stopped");
    return infoOf(made);
  }

  /** Stops the recording first if it is active. @throws AppError NOT_FOUND */
  async remove(id: string): Promise<void> {
    const { path } = await this.stop(id);
    await rm(path, { force: true });
    this.#made.delete(id);
    this.#kept.delete(id);
  }

  /** @throws AppError NOT_FOUND */
  find(id: string): RecordingInfo {
    const made = this.#made.get(id);
    return made === undefined ? keptInfo(this.#requireKept(id)) : infoOf(made);
  }

  /** Ends all active recordings and completes their files. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#underWay().map(({ recording }) => recording.stop("daemon")));
  }

  #underWay(): readonly Made[] {
    return [...this.#made.values()].filter(({ recording }) => recording.end === undefined);
  }

  #requireKept(id: string): KeptRecording {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return kept;
    throw new AppError("NOT_FOUND", `there is no recording ${JSON.stringify(id)}; run \`tmuxwire recordings\``);
  }

  #feedsOf(server: TmuxServer): Feeds {
    const { clock, log } = this.#options;
    const onError = (error: unknown): void => log.error("recording.subscriber.failed", { error });
    const known = this.#feeds.get(server) ?? new Feeds({ server, clock, onError });
    this.#feeds.set(server, known);
    return known;
  }

  /** @throws AppError RESOURCE_LIMIT if the active recordings leave no room */
  async #makeRoom(): Promise<void> {
    const { nowUnixMs, log, maxFolderBytes = MAX_FOLDER_BYTES } = this.#options;
    const promised = [...this.#underWay(), ...this.#beginning].reduce((sum, { maxBytes }) => sum + maxBytes, 0);
    if (promised > maxFolderBytes) {
      const message = `active recordings already reserve the folder's ${maxFolderBytes} bytes; stop one, or give a smaller maxBytes`;
      throw new AppError("RESOURCE_LIMIT", message);
    }
    const ended = this.list().filter(({ isRecording }) => !isRecording);
    const sizes = await Promise.all(ended.map(({ path }) => stat(path).catch(() => undefined)));
    let total = sizes.reduce((sum, file) => sum + (file?.size ?? 0), promised);
    const tooOld = nowUnixMs() - MAX_RECORDING_AGE_MS;
    for (const [at, { id, path, startedUnixMs }] of ended.entries()) {
      const bytes = sizes[at]?.size;
      if (bytes !== undefined && startedUnixMs >= tooOld && total <= maxFolderBytes) continue;
      if (bytes !== undefined) log.info("recording.removed", { id, bytes });
      total -= bytes ?? 0;
      this.#made.delete(id);
      this.#kept.delete(id);
      // oxlint-disable-next-line no-await-in-loop -- the oldest first
      await rm(path, { force: true });
    }
  }
}

const infoOf = ({ kept, recording }: Made): RecordingInfo => ({
  ...kept,
  bytes: recording.bytes,
  isRecording: recording.end === undefined,
  durationMs: recording.durationMs,
  gaps: recording.gaps,
  end: recording.end,
});

const keptInfo = (kept: KeptRecording): RecordingInfo => ({
  ...kept,
  isRecording: false,
  durationMs: undefined,
  gaps: undefined,
  end: undefined,
});
