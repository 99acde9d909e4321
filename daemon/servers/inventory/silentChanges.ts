/**
 * Detects changes that tmux does not report: windows that `swap-window` or renumbering moves, and, on a server where we are
 * attached to only one session, layouts and titles of the others. While somebody follows the tree, tmux itself compares a
 * format with its last value once a second (`refresh-client -B`) and reports when it has changed. Only the fact of the change
 * is used. The format holds ids, numbers, and titles without control characters, which could end the line (docs/tmuxFacts.md
 * 20).
 */
import { subscribeFormat, unsubscribeFormat } from "../../../protocol/command/build.ts";
import type { WindowId } from "../../../protocol/ids.ts";
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

/** What tmux compares, and under which name. */
interface Compared {
  readonly format?: ((of: ControlConnection) => string) | undefined;
  readonly name?: string | undefined;
  /**
   * The windows of the connection's session. Given where that session may end: up to 3.6, tmux crashes when it compares for
   * a client whose session has just ended, unless it does so for a window (docs/tmuxFacts.md 56a).
   */
  readonly windows?: (() => readonly WindowId[]) | undefined;
}

export class SilentChanges {
  readonly #format: (connection: ControlConnection) => string;
  readonly #connection: () => ControlConnection;
  readonly #name: string;
  readonly #windows: Compared["windows"];
  #isFollowed = false;
  /** For which window tmux compares. */
  #window: WindowId | undefined;

  /** @param connection where changes are reported. @throws AppError CONNECTION_LOST while there is none */
  constructor(
    connection: () => ControlConnection,
    { format = everywhere, name = TREE_CHANGES, windows }: Compared = {},
  ) {
    this.#format = format;
    this.#connection = connection;
    this.#name = name;
    this.#windows = windows;
  }

  follow(isFollowed: boolean): void {
    this.#isFollowed = isFollowed;
    try {
      this.#send(this.#connection());
    } catch {
      // The next connection will subscribe.
    }
  }

  /** Call for each new connection, which has no subscription yet. */
  attached(connection: ControlConnection): void {
    this.#window = undefined;
    if (this.#isFollowed) this.#send(connection);
  }

  /** Call when the connection's session, or its windows, may have changed. */
  look(): void {
    if (this.#isFollowed && this.#windows !== undefined && this.#chosen() !== this.#window) this.follow(true);
  }

  #chosen(): WindowId | undefined {
    const windows = this.#windows?.() ?? [];
    return windows.find((window) => window === this.#window) ?? windows[0];
  }

  #send(connection: ControlConnection): void {
    const name = this.#name;
    this.#window = this.#chosen();
    // It is subscribed when there is a window (`look`).
    const isPossible = this.#windows === undefined || this.#window !== undefined;
    const command =
      this.#isFollowed && isPossible
        ? subscribeFormat(name, this.#format(connection), this.#window)
        : unsubscribeFormat(name);
    connection.send(command, "none", () => undefined);
  }
}
