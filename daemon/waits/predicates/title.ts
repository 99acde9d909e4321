/**
 * A pattern on the pane's title: the one it has when the wait begins, each one that the program sets from then on (OSC
 * 0 and 2, as they arrive), and any set otherwise (`select-pane -T`), once tmux has reported it. When something is
 * typed, only titles set after it count. Latches.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { FoundText } from "../text/patternWatch.ts";
import type { WaitPane } from "../waitPane.ts";
import { type CheckedPattern, patternSchema, regexesOf } from "../waitPattern.ts";
import { latched, predicate } from "./predicate.ts";

/** As tmux had it before anything was typed. */
interface KnownTitle extends Partial<Disposable> {
  readonly title: string;
}

export const title = predicate({
  name: "title",
  field: "title",
  schema: patternSchema("The pane's title shows this text, or matches this regular expression (RE2)."),
  flags: [{ name: "title", type: "text", value: "REGEX", description: "the pane's title matches this (RE2)" }],
  asked: (given) => {
    const regex = given.text("title");
    return regex === undefined ? [] : [{ regex }];
  },
  check: (value, door) => {
    requirePane(door.pane);
    return door.checkPattern(value);
  },
  regexes: regexesOf,
  prepare: async (_checked, { server, id }): Promise<KnownTitle> => ({ title: (await server.describePane(id)).title }),
  arm: (checked: CheckedPattern, context, known: KnownTitle) => {
    const latch = context.latch();
    const probe = (shown: string, found: (text: string) => FoundText): void => {
      if (latch.match === undefined) context.search(checked, shown, (text) => latch.found(found(text)));
    };
    context.hear(
      {
        mark: (mark, from, to) => {
          if (mark.kind === "title") probe(mark.title, (text) => ({ text, from, to }));
        },
      },
      latch,
    );
    const reported = (shown: string): void => probe(shown, (text) => ({ text }));
    // tmux may report only now what was set before.
    let before: string | undefined = known.title;
    const { server, id } = requirePane(context.pane);
    context.onEnd(
      server.layout.watch((events) => {
        for (const event of events) {
          if (event.type !== "pane-title-changed" || event.pane !== id) continue;
          if (event.title !== before) reported(event.title);
          before = undefined;
        }
      }),
    );
    if (!context.moment.isForSend) reported(known.title);
    return latch;
  },
  ...latched,
});

function requirePane(pane: WaitPane | undefined): WaitPane {
  if (pane === undefined) throw new AppError("INVALID_ARGUMENT", "only a pane has a title");
  return pane;
}
