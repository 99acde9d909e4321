/** Every bound of recordings: the unit in the name, the reason beside the number. */

/** For one that is given none: hours of an agent at work. */
export const DEFAULT_RECORDING_BYTES = 67_108_864;
/** A working day. */
export const DEFAULT_RECORDING_SEC = 28_800;
/** At the same time; each is a subscriber of its pane. */
export const MAX_RECORDINGS_UNDER_WAY = 32;
/** What the folder may come to hold, what is under way counted with its bound. */
export const MAX_FOLDER_BYTES = 4_294_967_296;
/** Older ones are removed when the daemon starts and when another one begins. */
export const MAX_RECORDING_AGE_MS = 2_592_000_000;
/** Written and not on the disk yet: past it the pane is read later, from its ring. */
export const MAX_UNWRITTEN_BYTES = 1_048_576;
/** Of a file's first line. */
export const MAX_HEADER_BYTES = 16_384;
/** The longest line there can be, looked at from the end of a file that was cut off. */
export const MAX_LINE_BYTES = 8_388_608;
