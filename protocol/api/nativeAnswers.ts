/** The former name of `nativeResponses.ts`, until the dashboard's page imports that (`paneEventReader.ts`). */
export type { NativeGap } from "./nativeResponses.ts";
