/**
 * The state of an edited file, apart from its view: what was read, whether it was changed here, and the server's response to
 * a write. A file that has changed meanwhile is overwritten only on request.
 */
import type { PageApi } from "./pageApi.ts";
import { Refused } from "../../../pages/askServer.ts";

export interface FileStatus {
  readonly kind: "reading" | "ready" | "saving" | "conflict" | "failed";
  readonly isChanged: boolean;
  /** It does not exist yet. */
  readonly isNew: boolean;
  readonly message?: string | undefined;
}

/** Text that was not saved, and what it was written over. */
export interface Draft {
  readonly text: string;
  readonly etag: string | null;
}

interface OpenFileOptions {
  readonly path: string;
  readonly api: Pick<PageApi, "readFile" | "writeFile">;
  readonly onStatus: (status: FileStatus) => void;
  /** The text to show has changed. */
  readonly onText: (text: string) => void;
}

export class OpenFile {
  readonly #options: OpenFileOptions;
  #status: FileStatus = { kind: "reading", isChanged: false, isNew: false };
  #etag: string | null = null;
  #saved = "";
  /** As it stands in the editor. */
  #text = "";

  constructor(options: OpenFileOptions) {
    this.#options = options;
  }

  /** Discards changes made here. */
  async read(): Promise<void> {
    const { api, path } = this.#options;
    this.#update({ kind: "reading", message: undefined });
    try {
      const { text, etag } = await api.readFile(path);
      this.#show(text, etag);
    } catch (error) {
      if (isMissing(error)) this.#show("", null);
      else this.#update({ kind: "failed", message: wordsOf(error) });
    }
  }

  get draft(): Draft {
    return { text: this.#text, etag: this.#etag };
  }

  /** Goes on with what was written before it was read: what somebody else has written since is not overwritten. */
  resume({ text, etag }: Draft): void {
    this.#text = text;
    const isChanged = text !== this.#saved;
    const isOther = isChanged && etag !== this.#etag;
    if (isOther) this.#etag = etag;
    const { kind } = this.#status;
    this.#update({ isChanged, kind: isOther && kind === "ready" ? "conflict" : kind });
  }

  /** Checks whether it has changed elsewhere meanwhile. */
  async check(): Promise<void> {
    if (this.#status.isChanged || this.#status.kind !== "ready") return;
    const { api, path } = this.#options;
    const found = await api.readFile(path).catch(() => undefined);
    if (found === undefined || found.etag === this.#etag || this.#status.isChanged || this.#status.kind !== "ready")
      return;
    this.#show(found.text, found.etag);
  }

  changed(text: string): void {
    this.#text = text;
    const isChanged = text !== this.#saved;
    if (isChanged !== this.#status.isChanged) this.#update({ isChanged });
  }

  async save(text: string): Promise<void> {
    const { kind } = this.#status;
    if (kind === "reading" || kind === "saving") return;
    const { api, path } = this.#options;
    this.#update({ kind: "saving", message: undefined });
    try {
      const { etag } = await api.writeFile(path, text, this.#etag);
      [this.#etag, this.#saved] = [etag, text];
      // Somebody may have gone on writing.
      this.#update({ kind: "ready", isChanged: this.#text !== text, isNew: false });
    } catch (error) {
      const isConflict = error instanceof Refused && error.code === "REVISION_CONFLICT";
      this.#update({ kind: isConflict ? "conflict" : "failed", message: wordsOf(error) });
    }
  }

  /** The person knows that it has changed, and wants this text. */
  async overwrite(text: string): Promise<void> {
    const { api, path } = this.#options;
    try {
      this.#etag = (await api.readFile(path)).etag;
    } catch (error) {
      if (!isMissing(error)) {
        this.#update({ kind: "failed", message: wordsOf(error) });
        return;
      }
      this.#etag = null;
    }
    await this.save(text);
  }

  /** @param etag null for a file that does not exist yet */
  #show(text: string, etag: string | null): void {
    [this.#etag, this.#saved, this.#text] = [etag, text, text];
    this.#options.onText(text);
    this.#update({ kind: "ready", isChanged: false, isNew: etag === null });
  }

  #update(change: Partial<FileStatus>): void {
    this.#status = { ...this.#status, ...change };
    this.#options.onStatus(this.#status);
  }
}

const isMissing = (error: unknown): boolean => error instanceof Refused && error.code === "NOT_FOUND";

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : "the server did not respond");
