/** A recording read from its file, event by event: asciicast 2 and 3, whoever has written it. A last line that was cut off is none. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import * as v from "valibot";
import { AppError } from "../../../protocol/errors.ts";
import type { CastVersion } from "../../../protocol/text/asciicast.ts";

interface RecordedEvent {
  readonly atSec: number;
  readonly code: string;
  readonly data: string;
}

const headerSchema = v.object({ version: v.picklist([2, 3]) });
const eventSchema = v.tuple([v.pipe(v.number(), v.minValue(0)), v.string(), v.string()]);

/** @throws AppError INVALID_ARGUMENT */
export async function* readCast(path: string): AsyncGenerator<RecordedEvent, void, void> {
  const input = createReadStream(path, "utf8");
  const failed = new Promise<never>((_resolve, reject) => {
    input.once("error", (error) => reject(new AppError("INVALID_ARGUMENT", error.message, { cause: error })));
  });
  failed.catch(() => undefined);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]();
  let version: CastVersion | undefined;
  let number = 0;
  let atSec = 0;
  let broken: AppError | undefined;
  try {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one line after the other
      const next: IteratorResult<string, unknown> = await Promise.race([lines.next(), failed]);
      if (next.done === true) break;
      const line = next.value;
      // Only the last line may be one that was cut off.
      if (broken !== undefined) throw broken;
      number += 1;
      if (line === "" || (version === 3 && line.startsWith("#"))) continue;
      if (version === undefined) {
        version = parsed(headerSchema, line)?.version;
        if (version === undefined) throw new AppError("INVALID_ARGUMENT", `${path} is no asciicast of version 2 or 3`);
        continue;
      }
      const event = parsed(eventSchema, line);
      if (event === undefined) {
        broken = new AppError("INVALID_ARGUMENT", `${path}: line ${number} is no event of a recording`);
        continue;
      }
      const [time, code, data] = event;
      atSec = version === 2 ? time : atSec + time;
      yield { atSec, code, data };
    }
    if (version === undefined) throw new AppError("INVALID_ARGUMENT", `${path} is empty`);
  } finally {
    input.destroy();
  }
}

function parsed<Out>(schema: v.GenericSchema<unknown, Out>, line: string): Out | undefined {
  try {
    const result = v.safeParse(schema, JSON.parse(line));
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}
