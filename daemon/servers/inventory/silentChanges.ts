/**
 * Detects changes that tmux does not report: windows that `swap-window` or renumbering moves, and, on a server where we are
 * attached to only one session, layouts and titles of the others. While somebody follows the tree, tmux itself compares a
 * format with its last value once a second (`refresh-client -B`) and reports when it has changed. Only the fact of the change
 * is used. The format holds ids, numbers, and titles without control characters, which could end the line (docs/tmuxFacts.md
 * 20).
 */
import { subscribeFormat, unsubscribeFormat } from "../../../protocol/command/build.ts";
import type { PaneId, WindowId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";

/** The name of what tmux compares for those who follow the tree. */
const TREE_CHANGES = "tmuxwire";

const PLACES = "#{window_index}#{window_id}#{?window_active,*,}";
/** tmux refuses control characters in titles; a named class (`[:cntrl:]`) would end the modifier. */
const PANES = "#{P:#{=64;s/[\u0001-\u001f\u007f]/_/:pane_title} }";

/** The place of every window. */
const PLACES_FORMAT = `#{S:#{session_id} #{W:${PLACES} }}`;
/** The place and layout of every window. */
const SHAPES_FORMAT = `#{S:#{session_id} #{W:${PLACES}#{window_visible_layout}#{window_layout}${PANES}}}`;

const everywhere = (): string => SHAPES_FORMAT;
/** For a connection that gets the notifications of every session: compares only places. */
export const attachedToAll = ({ features }: ControlConnection): string =>
  features.reportsPaneChanges ? PLACES_FORMAT : SHAPES_FORMAT;

type Place = WindowId | PaneId;

/** What tmux compares, and under which name. */
interface Compared {
  readonly format?: ((of: ControlConnection) => string) | undefined;
  readonly name?: string | undefined;
  /**
   * Windows or panes of the connection's session: up to 3.6, tmux crashes when it compares for a client whose session has
   * just ended, unless it does so for one of these (docs/tmuxFacts.md 56a).
   */
  readonly places: () => readonly Place[];
}

export class SilentChanges {
  readonly #format: (connection: ControlConnection) => string;
  readonly #connection: () => ControlConnection;
  readonly #name: string;
  readonly #places: Compared["places"];
  #isFollowed = false;
  /** For which of them tmux compares. */
  #place: Place | undefined;

  /** @param connection where changes are reported. @throws AppError CONNECTION_LOST while there is none */
  constructor(connection: () => ControlConnection, { format = everywhere, name = TREE_CHANGES, places }: Compared) {
    this.#format = format;
    this.#connection = connection;
    this.#name = name;
    this.#places = places;
  }

  follow(isFollowed: boolean): void {
    if (isFollowed === this.#isFollowed) return;
    this.#isFollowed = isFollowed;
    this.#sendAgain();
  }

  /** Call for each new connection, which has no subscription yet. */
  attached(connection: ControlConnection): void {
    this.#place = undefined;
    if (this.#isFollowed) this.#send(connection);
  }

  /** Call when the connection's session, or its windows, may have changed. */
  look(): void {
    if (this.#isFollowed && this.#chosen() !== this.#place) this.#sendAgain();
  }

  #sendAgain(): void {
    try {
      this.#send(this.#connection());
    } catch {
      // The next connection will subscribe.
    }
  }

  #chosen(): Place | undefined {
    const places = this.#places();
    return places.find((place) => place === this.#place) ?? places[0];
  }

  #send(connection: ControlConnection): void {
    const name = this.#name;
    this.#place = this.#chosen();
    // It is subscribed when there is one (`look`).
    const command =
      this.#isFollowed && this.#place !== undefined
        ? subscribeFormat(name, this.#format(connection), this.#place)
        : unsubscribeFormat(name);
    connection.send(command, "none", () => undefined);
  }
}
