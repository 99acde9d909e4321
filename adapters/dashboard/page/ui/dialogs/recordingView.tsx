/** One recording with its controls: play, place, speed. */
import { useState } from "preact/hooks";
import type { Cast, PlayerState } from "../../../../client/castPlayer.ts";
import { Button } from "../../../../pages/controls.tsx";
import { useView } from "../../../../pages/useView.ts";
import { timeText } from "../../words/recordingWords.ts";

const SPEEDS = [0.5, 1, 2, 5, 10, 50, 100];

interface RecordingViewProps {
  readonly cast: Cast;
  readonly onProblem: (problem: string) => void;
}

export function RecordingView({ cast, onProblem }: RecordingViewProps) {
  const [state, setState] = useState<PlayerState | undefined>(undefined);
  const { place, view } = useView(
    () => import("./recordingSession.ts"),
    ({ RecordingSession }, at) => {
      const session = new RecordingSession({ cast, place: at, onState: setState });
      session.player.play();
      return session;
    },
    onProblem,
    [cast],
  );
  const player = () => view.current?.player;
  const { atSec = 0, isPlaying = false } = state ?? {};
  return (
    <>
      <div class="player">
        <Button
          kind="primary"
          disabled={state === undefined}
          onPress={() => (isPlaying ? player()?.pause() : player()?.play())}
        >
          {isPlaying ? "Pause" : "Play"}
        </Button>
        <input
          type="range"
          aria-label="Place"
          aria-valuetext={timeText(atSec)}
          min={0}
          max={cast.lengthSec}
          step="any"
          value={atSec}
          onInput={({ currentTarget }) => player()?.seek(Number(currentTarget.value))}
        />
        <output class="player-time">
          {timeText(atSec)} / {timeText(cast.lengthSec)}
        </output>
        <select
          aria-label="Speed"
          onChange={({ currentTarget }) => {
            const playing = player();
            if (playing !== undefined) playing.speed = Number(currentTarget.value);
          }}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={speed} selected={speed === 1}>
              {speed}×
            </option>
          ))}
        </select>
      </div>
      <div class="screen">
        <div ref={place} />
      </div>
    </>
  );
}
