/** Recordings: the daemon's, newest first, or a local file, which stays in the browser; and the one being played. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { NativeRecording } from "../../../../protocol/api/nativeRecordings.ts";
import { type Cast, parseCast } from "../../../client/castPlayer.ts";
import { Button } from "../../../pages/controls.tsx";
import { Dialog } from "../../../pages/dialog.tsx";
import type { Api } from "../net/api.ts";
import { recordingText } from "../words/recordingWords.ts";
import { RecordingView } from "./recordingView.tsx";

/** All of it is held in the page. */
const MAX_BYTES = 200_000_000;

interface Opened {
  readonly name: string;
  readonly cast: Cast;
}

interface RecordingsDialogProps {
  readonly api: Api;
  readonly onClose: () => void;
}

export function RecordingsDialog({ api, onClose }: RecordingsDialogProps) {
  const [recordings, setRecordings] = useState<readonly NativeRecording[] | undefined>(undefined);
  const [opened, setOpened] = useState<Opened | undefined>(undefined);
  const [problem, setProblem] = useState("");
  const closing = useRef(new AbortController());
  const attempt = async (work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    setProblem("");
    const { signal } = closing.current;
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const open = (name: string, bytes: number, text: (signal: AbortSignal) => Promise<string>): Promise<void> =>
    attempt(async (signal) => {
      if (bytes > MAX_BYTES) throw new Error("it is too large for a page: play it with `tmuxwire play`");
      setOpened({ name, cast: parseCast(await text(signal), name) });
    });
  useEffect(() => {
    void attempt(async (signal) => {
      const { body } = await api.recordings(signal);
      setRecordings((body as { readonly recordings: readonly NativeRecording[] }).recordings.toReversed());
    });
    return () => closing.current.abort();
  }, []);
  return (
    <Dialog kind="recordings" title={opened?.name ?? "Recordings"} onClose={onClose}>
      {problem === "" ? null : (
        <p class="pane-problem" role="alert">
          {problem}
        </p>
      )}
      {opened === undefined ? (
        <>
          <RecordingList
            recordings={recordings}
            onPick={({ id, server, pane, bytes }) =>
              void open(`${server} ${pane}`, bytes, (signal) => api.recordingText(id, signal))
            }
          />
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
