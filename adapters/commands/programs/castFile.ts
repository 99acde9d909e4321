/** A recording read from its file, event by event. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { AppError } from "../../../protocol/errors.ts";
import { CastReader, type RecordedEvent } from "../../../protocol/text/castReader.ts";

/** @throws AppError INVALID_ARGUMENT */
export async function* readCast(path: string): AsyncGenerator<RecordedEvent, void, void> {
  const input = createReadStream(path, "utf8");
  const failed = new Promise<never>((_resolve, reject) => {
    input.once("error", (error) => reject(new AppError("INVALID_ARGUMENT", whyNot(path, error), { cause: error })));
  });
  failed.catch(() => undefined);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  const reader = new CastReader(path);
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one line after the other
      const next: IteratorResult<string, unknown> = await Promise.race([lines.next(), failed]);
      if (next.done === true) break;
      const event = reader.take(next.value);
      if (event !== undefined) yield event;
    }
    reader.end();
  } finally {
    input.destroy();
  }
}

function whyNot(path: string, error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case "ENOENT":
      return `there is no file ${path}; \`tmuxwire recordings\` lists those that the daemon keeps`;
    case "EACCES":
      return `${path} may not be read`;
    case "EISDIR":
      return `${path} is a directory; name a recording in it`;
    case undefined:
    default:
      return `${path} cannot be read: ${error.message}`;
  }
}
