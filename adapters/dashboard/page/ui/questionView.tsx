/** A question with every way to answer it: its options, the text behind "other", or text alone. */
import { useMemo, useState } from "preact/hooks";
import { Button } from "../../../pages/controls.tsx";
import { SendBox } from "../../../pages/sendBox.tsx";
import type { Question, QuestionOption } from "../model/agentCard.ts";
import type { Answer } from "../model/answers.ts";
import { textUseOf } from "../model/answers.ts";
import { drawnDiff, type Diff, type FileDiff, type Sign } from "../model/diff.ts";
import { keysLabel } from "../words/keyLabels.ts";

interface QuestionProps {
  /** Of its elements: it may stand on the card and below the pane. */
  readonly id: string;
  readonly question: Question | undefined;
  readonly draft: string;
  readonly busy: boolean;
  readonly onDraft: (text: string) => void;
  readonly onAnswer: (answer: Answer) => void;
}

/** Of the text field. */
const MAX_ROWS = 10;

export function QuestionView(props: QuestionProps) {
  const { id, question, draft, busy, onDraft, onAnswer } = props;
  const use = textUseOf(question);
  const questionId = `${id}-question`;
  const label = use === "other" ? "Something else" : "Your answer";
  const drawn = useMemo(
    () => (question === undefined || question.diff !== undefined ? undefined : drawnDiff(question.text)),
    [question],
  );
  const diff = question?.diff ?? drawn?.diff;
  return (
    <>
      {/* What scrolls can be scrolled by keys. */}
      <p class="question" id={questionId} tabIndex={isLong(drawn?.text ?? question?.text ?? "") ? 0 : undefined}>
        <QuestionText question={question} text={drawn?.text ?? question?.text ?? ""} />
      </p>
      {diff === undefined ? null : <DiffView diff={diff} />}
      <Risk question={question} />
      <Choices {...props} labelledBy={questionId} />
      {use === "none" ? null : (
        <SendBox
          id={`${id}-text`}
          label={label}
          placeholder={label}
          text={draft}
          rows={Math.min(MAX_ROWS, draft.split("\n").length)}
          isBusy={busy}
          onText={onDraft}
          onSend={() => onAnswer({ kind: use, text: draft })}
        />
      )}
    </>
  );
}

/** May be higher than its place (`styles/question.css`). */
const isLong = (text: string): boolean => text.length > 400 || text.split("\n").length > 10;

const SAFETY_WORDS = {
  safe_read: "Reads only",
  safe_write: "Writes",
  destructive: "Destructive",
  unknown: "",
} as const;

/** What a permission is for, and what it would let happen: in words, because the card says it by its colour alone. */
function Risk({ question }: Pick<QuestionProps, "question">) {
  const words = SAFETY_WORDS[question?.safety ?? "unknown"];
  const purpose = question?.purpose ?? "";
  if (words === "" && purpose === "") return null;
  return (
    <p class="hint">
      {words === "" ? null : <strong class="risk">{words}</strong>} <span class="quiet">{purpose}</span>
    </p>
  );
}

/** Of several questions, each is shown above its own choices. */
function QuestionText({ question, text }: Pick<QuestionProps, "question"> & { readonly text: string }) {
  const count = question?.parts.length ?? 0;
  if (count > 1) return <span class="quiet">{count} questions, answered together</span>;
  if (text === "") return <span class="quiet">It waits for input. Open its pane to see more.</span>;
  const command = question?.command ?? "";
  if (command === "" || !text.includes(command)) return <>{text}</>;
  const at = text.indexOf(command);
  return (
    <>
      {text.slice(0, at)}
      <code class="command">{command}</code>
      {text.slice(at + command.length)}
    </>
  );
}

function Choices(props: QuestionProps & { readonly labelledBy: string }) {
  const { question } = props;
  if (question === undefined || question.kind === "text") return null;
  if (question.kind === "multi_select" && question.parts.some(({ options }) => options.length > 0)) {
    return <Several {...props} question={question} />;
  }
  if (question.options.length > 0) return <Options {...props} question={question} />;
  return <p class="quiet hint">Its options appear here as soon as they are on the agent's screen.</p>;
}

interface ChoicesProps extends QuestionProps {
  readonly question: Question;
  readonly labelledBy: string;
}

function Options({ id, question, busy, labelledBy, onAnswer }: ChoicesProps) {
  const choose = (option: QuestionOption): void => {
    // This option takes text: without it, it would be an empty answer.
    if (option.index === question.other_index) document.querySelector<HTMLElement>(`#${id}-text`)?.focus();
    else onAnswer({ kind: "option", option });
  };
  return (
    <div class="options" role="group" aria-labelledby={labelledBy}>
      {question.options.map((option) => (
        <Button
          key={option.index}
          kind="option"
          data-option={option.index}
          data-focus={`option-${option.index}`}
          disabled={busy}
          onPress={() => choose(option)}
        >
          <OptionLabel option={option} />
          <Keys keys={option.index === question.other_index ? ["/"] : option.keys} />
        </Button>
      ))}
    </div>
  );
}

/** Several questions at once, or one with several answers: chosen first, then sent together. */
function Several({ question: { parts }, busy, labelledBy, onAnswer }: ChoicesProps) {
  const [chosen, setChosen] = useState<readonly ReadonlySet<number>[]>(parts.map(() => new Set()));
  const missing = parts.filter((_part, place) => (chosen[place]?.size ?? 0) === 0).length;
  const choose = (place: number, index: number): void => {
    const next = new Set(parts[place]?.isMulti === true ? chosen[place] : []);
    if (parts[place]?.isMulti !== true || !next.delete(index)) next.add(index);
    setChosen(parts.map((_part, at) => (at === place ? next : (chosen[at] ?? new Set()))));
  };
  const send = (): void => {
    if (missing > 0) return;
    const choices = parts.map(({ isMulti }, place) => ({ isMulti, indices: [...(chosen[place] ?? [])] }));
    onAnswer({ kind: "several", choices });
  };
  return (
    <form
      class="several"
      aria-labelledby={labelledBy}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {parts.map((part, place) => (
        <fieldset class="options" key={part.text} disabled={busy}>
          {parts.length < 2 ? null : <legend class="part">{part.text}</legend>}
          {part.options.map((option) => (
            <label
              class={`button option${chosen[place]?.has(option.index) === true ? " chosen" : ""}`}
              key={option.index}
            >
              <input
                type={part.isMulti ? "checkbox" : "radio"}
                name={`${labelledBy}-${place}`}
                // Number keys are for the first part.
                data-option={place === 0 ? option.index : undefined}
                data-focus={`option-${place}-${option.index}`}
                checked={chosen[place]?.has(option.index) === true}
                onChange={() => choose(place, option.index)}
              />
              <OptionLabel option={option} />
            </label>
          ))}
        </fieldset>
      ))}
      <Button kind="primary" data-focus="several" disabled={busy || missing > 0}>
        {missing > 0 ? (parts.length > 1 ? `Choose: ${missing} to go` : "Choose at least one") : sendText(chosen)}
      </Button>
    </form>
  );
}

function sendText(chosen: readonly ReadonlySet<number>[]): string {
  const count = chosen.reduce((sum, { size }) => sum + size, 0);
  return count === 1 ? "Send 1 choice" : `Send ${count} choices`;
}

const OptionLabel = ({ option }: { readonly option: QuestionOption }) => (
  <span class="option-label">
    {option.number === null ? null : <span class="option-number">{option.number}. </span>}
    {option.label}
    {option.description === "" ? null : <span class="option-description">{option.description}</span>}
  </span>
);

/** The keys that the button presses in the pane. */
const Keys = ({ keys }: { readonly keys: readonly string[] }) =>
  keys.length === 0 ? null : (
    <kbd class="keys" title="the keys this presses">
      {keysLabel(keys)}
    </kbd>
  );

const KINDS: Readonly<Record<Sign, string>> = { "+": "added", "-": "removed", " ": "kept" };

/** What would be changed in files: each line with its sign, so that nothing is said by colour alone. */
const DiffView = ({ diff: { files, more } }: { readonly diff: Diff }) => (
  <>
    {files.map((file, at) => (
      <FileView key={at} file={file} />
    ))}
    {more === 0 ? null : <p class="quiet hint">… {more === 1 ? "1 more file" : `${more} more files`}</p>}
  </>
);

function FileView({ file: { path, whole, lines, more } }: { readonly file: FileDiff }) {
  const widest = Math.max(0, ...lines.map(({ number }) => number?.length ?? 0));
  const count = (sign: Sign): number => lines.filter((line) => line.sign === sign).length;
  const title = path === "" ? "a file" : path;
  return (
    <figure class="diff">
      <figcaption>
        <code class="diff-path">{title}</code>{" "}
        <span class="quiet">{whole ? "its whole content" : `+${count("+")} −${count("-")}`}</span>
      </figcaption>
      {/* What scrolls can be scrolled by keys. */}
      <pre tabIndex={0} role="region" aria-label={`Changes to ${title}`}>
        {lines.map(({ sign, text, number }, at) => (
          <span key={at} class={`diff-line ${KINDS[sign]}`}>
            {widest === 0 ? null : <span class="quiet">{(number ?? "").padStart(widest)} </span>}
            {sign}
            {text}
          </span>
        ))}
      </pre>
      {more === 0 ? null : <p class="diff-more">… {more === 1 ? "1 more line" : `${more} more lines`}</p>}
    </figure>
  );
}
