/** Checks of the dashboard's database, as a start would meet it; nothing is made, moved or changed here. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { examineDatabase } from "../../daemon/ops/database.ts";
import { toAppError } from "../../protocol/errors.ts";
import { hasOwner } from "../dashboard/store/soleOwner.ts";
import type { Finding } from "./doctorReport.ts";
import { fail, ok, warn } from "./doctorReport.ts";

const REMEDY = "make that place usable, or choose another with --dashboard-database or TMUXWIRE_DASHBOARD_DATABASE";

export function databaseCheck(check: string, path: string): Finding {
  try {
    if (hasOwner(path)) return ok(check, `a daemon uses ${path}`);
    switch (examineDatabase(path)) {
      case "absent":
        requireRoom(path);
        return ok(check, `${path} will be made`);
      case "usable":
        return ok(check, `${path} can be used`);
      case "damaged":
        return warn(
          check,
          `${path} is damaged`,
          "put a copy in its place if you have one; otherwise the next start moves it aside and begins a new one",
        );
    }
  } catch (error) {
    return fail(check, toAppError(error).message, REMEDY);
  }
}

/** Its directory, or the nearest one in which that will be made. @throws Error of the system, which names it */
function requireRoom(path: string): void {
  let place = dirname(path);
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  if (!statSync(place).isDirectory()) throw new Error(`${place} is no directory`);
  accessSync(place, constants.W_OK | constants.X_OK);
}
