/** Recordings: the daemon's, newest first, or a local file, which stays in the browser; and the one being played. */
import { useEffect, useState } from "preact/hooks";
import type { NativeRecording } from "../../../../../protocol/api/native/nativeRecordings.ts";
import { type Cast, parseCast } from "../../../../client/castPlayer.ts";
import { Button } from "../../../../pages/controls.tsx";
import { Dialog } from "../../../../pages/dialog.tsx";
import type { AgentCard } from "../../model/agentCard.ts";
import type { Api } from "../../net/api.ts";
import { recordingText } from "../../words/recordingWords.ts";
import { Problem, useAttempts } from "../problem.tsx";
import { RecordingView } from "./recordingView.tsx";

/** All of it is held in the page. */
const MAX_BYTES = 200_000_000;

interface Opened {
  readonly name: string;
  readonly cast: Cast;
}

interface RecordingsDialogProps {
  readonly api: Api;
  /** Only those of this agent's pane, which can be recorded here; undefined: all. */
  readonly of: RecordedAgent | undefined;
  readonly onClose: () => void;
}

interface RecordedAgent {
  readonly card: AgentCard;
  readonly name: string;
  /** In paths. */
  readonly server: string;
}

export function RecordingsDialog({ api, of, onClose }: RecordingsDialogProps) {
  const [recordings, setRecordings] = useState<readonly NativeRecording[] | undefined>(undefined);
  const [opened, setOpened] = useState<Opened | undefined>(undefined);
  const { problem, setProblem, attempt } = useAttempts();
  const open = (name: string, bytes: number, text: (signal: AbortSignal) => Promise<string>): Promise<void> =>
    attempt(async (signal) => {
      if (bytes > MAX_BYTES) throw new Error("it is too large for a page: play it with `tmuxwire play`");
      setOpened({ name, cast: parseCast(await text(signal), name) });
    });
  const list = async (signal: AbortSignal): Promise<void> => {
    const { body } = await api.recordings(signal);
    const all = (body as { readonly recordings: readonly NativeRecording[] }).recordings.toReversed();
    setRecordings(of === undefined ? all : all.filter((one) => isOf(one, of)));
  };
  const record = (path: string): Promise<void> =>
    attempt(async (signal) => {
      await api.operate("POST", path, {}, undefined, signal);
      await list(signal);
    });
  useEffect(() => void attempt(list), []);
  return (
    <Dialog
      kind="recordings"
      title={opened?.name ?? (of === undefined ? "Recordings" : `Recordings of ${of.name}`)}
      onClose={onClose}
    >
      <Problem words={problem} />
      {opened === undefined ? (
        <>
          {of === undefined || recordings === undefined ? null : (
            <RecordButton of={of} underWay={recordings.find((each) => each.recording)} onPress={record} />
          )}
          <RecordingList
            recordings={recordings}
            onPick={({ id, server, pane, bytes }) =>
              void open(`${server} ${pane}`, bytes, (signal) => api.recordingText(id, signal))
            }
          />
          {of !== undefined ? null : (
            <label class="recording-file">
              Play a file of your own{" "}
              <input
                type="file"
                accept=".cast"
                onChange={({ currentTarget: { files } }) => {
                  const file = files?.[0];
                  if (file !== undefined) void open(file.name, file.size, () => file.text());
                }}
              />
            </label>
          )}
        </>
      ) : (
        <>
          <RecordingView cast={opened.cast} onProblem={setProblem} />
          <Button onPress={() => setOpened(undefined)}>All recordings</Button>
        </>
      )}
    </Dialog>
  );
}

const isOf = ({ server, pane }: NativeRecording, of: RecordedAgent): boolean =>
  server === of.server && pane === of.card.tmux_pane_id;

interface RecordButtonProps {
  readonly of: RecordedAgent;
  readonly underWay: NativeRecording | undefined;
  /** @param path of the operation */
  readonly onPress: (path: string) => Promise<void>;
}

function RecordButton({ of: { card, server }, underWay, onPress }: RecordButtonProps) {
  const agent = encodeURIComponent(card.running?.id ?? "");
  if (underWay !== undefined) {
    return (
      <p class="line-form">
        <Button onPress={() => onPress(`/v1/recordings/${encodeURIComponent(underWay.id)}/stop`)}>
          Stop recording
        </Button>
        <span class="quiet">Its pane is being recorded.</span>
      </p>
    );
  }
  if (card.running === null) return null;
  return (
    <p class="line-form">
      <Button onPress={() => onPress(`/v1/servers/${encodeURIComponent(server)}/panes/${agent}/recordings`)}>
        Record its pane
      </Button>
      <span class="quiet">What its screen shows, not what is typed.</span>
    </p>
  );
}

interface RecordingListProps {
  readonly recordings: readonly NativeRecording[] | undefined;
  readonly onPick: (recording: NativeRecording) => void;
}

function RecordingList({ recordings, onPick }: RecordingListProps) {
  if (recordings === undefined) return null;
  if (recordings.length === 0) {
    return (
      <p class="quiet">
        The daemon has none. <code>tmuxwire start-recording PANE</code> begins one.
      </p>
    );
  }
  return (
    <ul class="recording-list">
      {recordings.map((recording) => (
        <li key={recording.id}>
          <Button onPress={() => onPick(recording)}>
            <strong>
              {recording.server} {recording.pane}
            </strong>{" "}
            <span class="quiet">{recordingText(recording, Date.now())}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
