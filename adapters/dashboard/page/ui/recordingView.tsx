/** One recording with its controls: play, place, speed. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Cast, PlayerState } from "../../../client/castPlayer.ts";
import { timeText } from "../words/recordingWords.ts";
import type { RecordingSession } from "./recordingSession.ts";

const SPEEDS = [0.5, 1, 2, 5, 10, 50, 100];

interface RecordingViewProps {
  readonly cast: Cast;
  readonly onProblem: (problem: string) => void;
}

export function RecordingView({ cast, onProblem }: RecordingViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const session = useRef<RecordingSession | undefined>(undefined);
  const [state, setState] = useState<PlayerState | undefined>(undefined);
  useEffect(() => {
    let closed = false;
    const open = async (): Promise<void> => {
      try {
        const { RecordingSession: Session } = await import("./recordingSession.ts");
        if (closed || place.current === null) return;
        session.current = new Session({ cast, place: place.current, onState: setState });
        session.current.player.play();
      } catch {
        onProblem("the page's own files cannot be loaded: reload the page");
      }
    };
    void open();
    return () => {
      closed = true;
      session.current?.close();
      session.current = undefined;
    };
  }, [cast]);
  const player = () => session.current?.player;
  const { atSec = 0, isPlaying = false } = state ?? {};
  return (
    <>
      <div class="player">
        <button
          type="button"
          class="button primary"
          disabled={state === undefined}
          onClick={() => (isPlaying ? player()?.pause() : player()?.play())}
        >
          {isPlaying ? "Pause" : "Play"}
        </button>
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
