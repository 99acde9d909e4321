/** A recording on a screen in the page. Closed with its view. */
import { type Cast, CastPlayer, type PlayerState } from "../../../../client/castPlayer.ts";
import { Screen } from "../screen.ts";

interface RecordingSessionOptions {
  readonly place: HTMLElement;
  readonly cast: Cast;
  readonly onState: (state: PlayerState) => void;
}

export class RecordingSession {
  readonly player: CastPlayer;
  readonly #screen: Screen;

  constructor({ place, cast, onState }: RecordingSessionOptions) {
    const screen = new Screen(place);
    this.#screen = screen;
    this.player = new CastPlayer({
      cast,
      screen: {
        reset: ({ cols, rows }) => screen.reset(cols, rows),
        resize: ({ cols, rows }) => screen.resize(cols, rows),
        write: (text) => screen.write(text),
      },
      onChange: onState,
      nextFrame: (draw) => requestAnimationFrame(draw),
    });
  }

  /** Safe to call twice. */
  close(): void {
    this.player.close();
    this.#screen.close();
  }
}
