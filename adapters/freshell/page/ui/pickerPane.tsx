/** A pane without content yet: a choice of content. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { TERMINAL_MODES, type TerminalEntry } from "../../../../protocol/api/freshell/freshellHttp.ts";
import { AGENTS } from "../../../pages/knownAgents.ts";
import type { DevicePage } from "../devicePage.ts";
import { Button } from "../../../pages/controls.tsx";
import { change } from "./deviceActions.ts";
import { startOptions } from "./terminalPane.tsx";

interface PickerPaneProps {
  readonly page: DevicePage;
  readonly paneId: string;
  /** From an earlier page, about the content that was here. */
  readonly hints: Readonly<Record<string, unknown>>;
  readonly isActive: boolean;
}

const PROGRAMS = TERMINAL_MODES.map((mode) => ({
  mode,
  label: mode === "shell" ? "Terminal" : (AGENTS.find(({ name }) => name === mode)?.label ?? mode),
}));
const CONVERSES = AGENTS.find(({ converses }) => converses);

export function PickerPane({ page, paneId, hints, isActive }: PickerPaneProps) {
  const target = `pane:${paneId}`;
  const first = useRef<HTMLButtonElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [cwd, setCwd] = useState(typeof hints["initialCwd"] === "string" ? hints["initialCwd"] : "");
  useLayoutEffect(() => {
    if (isActive) first.current?.focus();
  }, [isActive]);
  const begin = async (run: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    await run();
    setBusy(false);
  };
  const start = (options: Readonly<Record<string, unknown>>): Promise<void> =>
    begin(() => page.perform({ kind: "terminal", paneId, options: { ...options, ...(cwd === "" ? {} : { cwd }) } }));
  const before = startOptions(hints);
  return (
    <div class="picker">
      {typeof before["mode"] === "string" ? (
        <Button kind="primary" disabled={isBusy} onPress={() => start(before)}>
          Start again what was here: {before["mode"]}
          {typeof before["cwd"] === "string" ? ` in ${before["cwd"]}` : ""}
        </Button>
      ) : null}
      <div class="row" role="group" aria-label="Programs">
        {PROGRAMS.map(({ mode, label }, at) => (
          <button
            key={mode}
            ref={at === 0 ? first : null}
            type="button"
            class={`button${at === 0 ? " primary" : ""}`}
            disabled={isBusy}
            onClick={() => void start({ mode })}
          >
            {label}
          </button>
        ))}
      </div>
      <Button disabled={isBusy} onPress={() => begin(() => startConversation(page, paneId, cwd === "" ? {} : { cwd }))}>
        Conversation with {CONVERSES?.label}
      </Button>
      <label class="field">
        In the directory
        <input value={cwd} placeholder="home" onInput={(event) => setCwd(event.currentTarget.value)} />
      </label>
      <LineForm
        label="A web page"
        placeholder="http://localhost:3000"
        button="Open"
        onGiven={(given) => change(page, "open-browser", { target, url: withScheme(given) })}
      />
      <LineForm
        label="A file"
        placeholder="~/notes.md"
        button="Edit"
        onGiven={(given) => change(page, "open-editor", { target, filePath: given })}
      />
      <OtherTerminals page={page} paneId={paneId} />
    </div>
  );
}

/** Creates a session on the server and shows it in the pane. */
export async function startConversation(page: DevicePage, paneId: string, options: object): Promise<void> {
  try {
    const { sessionId } = await page.api.createSession(options);
    await page.perform({ kind: "session", paneId, provider: "sdk", sessionId });
  } catch (error) {
    page.update({ problem: error instanceof Error ? error.message : "the conversation could not begin" });
  }
}

/** `localhost:3000` is what people write. */
export const withScheme = (given: string): string =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;

interface LineFormProps {
  readonly label: string;
  readonly placeholder: string;
  readonly button: string;
  readonly onGiven: (text: string) => void;
}

function LineForm({ label, placeholder, button, onGiven }: LineFormProps) {
  const [text, setText] = useState("");
  return (
    <form
      class="field"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onGiven(text.trim());
      }}
    >
      <label>
        {label}
        <input value={text} placeholder={placeholder} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <Button>{button}</Button>
    </form>
  );
}

const MAX_LISTED = 20;

/** Terminals that no pane of this device shows. */
function OtherTerminals({ page, paneId }: Pick<PickerPaneProps, "page" | "paneId">) {
  const [terminals, setTerminals] = useState<readonly TerminalEntry[]>([]);
  useEffect(() => {
    // Optional: a failure is ignored.
    page.api.terminals().then(setTerminals, () => undefined);
  }, [page]);
  const shown = JSON.stringify(page.state.view?.layout.snapshot.layouts ?? {});
  const others = terminals.filter(({ terminalId }) => !shown.includes(`"${terminalId}"`)).slice(-MAX_LISTED);
  if (others.length === 0) return null;
  return (
    <div class="field" role="group" aria-label="Terminals that no pane shows">
      <span>Terminals that no pane shows</span>
      {others.map(({ terminalId, title, cwd, status }) => (
        <Button
          key={terminalId}
          kind="left"
          onPress={() => change(page, "attach-terminal", { target: `terminal:${terminalId}`, to: `pane:${paneId}` })}
        >
          {title}{" "}
          <span class="quiet">
            {status === "exited" ? "ended, " : ""}
            {cwd}
          </span>
        </Button>
      ))}
    </div>
  );
}
