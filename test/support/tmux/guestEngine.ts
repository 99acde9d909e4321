/** The engine for guests, for processes that tests write as they need them. Built with the programs (`bundlePrograms.mjs`). */
export { startGuestServer } from "../../../daemon/servers/guest/guestStartup.ts";
export { systemClock } from "../../../daemon/time/clock.ts";
