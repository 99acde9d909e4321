/** The prompts that are kept: one is put into the prompt box, written, changed or removed. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DashboardTemplate } from "../../../../../protocol/api/dashboard.ts";
import { Button } from "../../../../pages/controls.tsx";
import { Dialog } from "../../../../pages/dialog.tsx";
import type { AgentCard } from "../../model/agentCard.ts";
import { filled, inserted, PLACEHOLDERS } from "../../model/templates.ts";
import type { Api } from "../../net/api.ts";
import type { Page } from "../../page.ts";
import { Problem, useAttempts } from "../problem.tsx";

interface TemplatesProps {
  readonly card: AgentCard;
  /** What stands in its prompt box. */
  readonly written: string;
  /** The id of that box. */
  readonly field: string;
  readonly page: Page;
  readonly api: Api;
}

/** `replaces`: undefined for a new one. */
interface Edited extends DashboardTemplate {
  readonly replaces: string | undefined;
}

export function TemplatesDialog({ card, written, field, page, api }: TemplatesProps) {
  const [templates, setTemplates] = useState<readonly DashboardTemplate[] | undefined>(undefined);
  const [edited, setEdited] = useState<Edited | undefined>(undefined);
  const { problem, attempt } = useAttempts();
  const keep = (work: (signal: AbortSignal) => Promise<readonly DashboardTemplate[]>): Promise<void> =>
    attempt(async (signal) => {
      setTemplates(await work(signal));
      setEdited(undefined);
    });
  useEffect(() => void keep((signal) => api.templates(signal)), []);
  const insert = ({ text }: DashboardTemplate): void => {
    page.actions.write(card.agent_id, inserted(written, filled(text, card)));
    page.update({ templates: undefined, promptingId: card.agent_id });
    // Behind the dialog, which gives the focus back when it is gone.
    queueMicrotask(() => document.querySelector<HTMLElement>(`#${field}`)?.focus());
  };
  return (
    <Dialog
      kind="templates"
      title={edited === undefined ? "Templates" : edited.replaces === undefined ? "New template" : "Edit template"}
      onClose={() => page.update({ templates: undefined })}
    >
      <Problem words={problem} />
      {edited !== undefined ? (
        <TemplateForm
          edited={edited}
          onSave={(one) => keep(() => api.saveTemplate(one))}
          onRemove={(name) => keep(() => api.removeTemplate(name))}
          onCancel={() => setEdited(undefined)}
        />
      ) : templates === undefined ? null : (
        <>
          {templates.length === 0 ? (
            <p class="quiet">None yet. A template is a prompt that you use again, on every device.</p>
          ) : (
            <ul class="template-list">
              {templates.map((one) => (
                <li key={one.name}>
                  <Button kind="template" onPress={() => insert(one)}>
                    <strong>{one.name}</strong>
                    <span class="quiet template-text">{filled(one.text, card)}</span>
                  </Button>
                  <Button
                    kind="plain small"
                    label={`Edit ${one.name}`}
                    onPress={() => setEdited({ ...one, replaces: one.name })}
                  >
                    Edit
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <p>
            <Button onPress={() => setEdited({ name: "", text: written, replaces: undefined })}>
              {written.trim() === "" ? "New template" : "Keep what is written as a template"}
            </Button>
          </p>
        </>
      )}
    </Dialog>
  );
}

interface TemplateFormProps {
  readonly edited: Edited;
  readonly onSave: (template: Edited) => Promise<void>;
  readonly onRemove: (name: string) => Promise<void>;
  readonly onCancel: () => void;
}

const MAX_ROWS = 12;

function TemplateForm({ edited, onSave, onRemove, onCancel }: TemplateFormProps) {
  const [name, setName] = useState(edited.name);
  const [text, setText] = useState(edited.text);
  const [isArmed, setArmed] = useState(false);
  const first = useRef<HTMLInputElement>(null);
  // With the form: a key that comes right after is for it.
  useLayoutEffect(() => first.current?.focus(), []);
  const { replaces } = edited;
  const save = (event: Event): void => {
    event.preventDefault();
    void onSave({ name: name.trim(), text, replaces });
  };
  return (
    <form class="form" onSubmit={save}>
      <label>
        Name
        <input
          class="text"
          ref={first}
          value={name}
          maxLength={64}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        Text
        <textarea
          class="text"
          rows={Math.min(MAX_ROWS, Math.max(4, text.split("\n").length))}
          value={text}
          maxLength={8_192}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="quiet hint">
        {PLACEHOLDERS.map((place) => (
          <>
            <code>{place}</code>{" "}
          </>
        ))}
        become the agent's directory, branch and name.
      </p>
      <p class="line-form">
        <Button kind="primary" disabled={name.trim() === "" || text.trim() === ""}>
          Save
        </Button>
        <Button onPress={onCancel}>Cancel</Button>
        {replaces === undefined ? null : (
          <Button kind={isArmed ? "danger" : "plain"} onPress={() => (isArmed ? onRemove(replaces) : setArmed(true))}>
            {isArmed ? "Remove it?" : "Remove"}
          </Button>
        )}
      </p>
    </form>
  );
}
