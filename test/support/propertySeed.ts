/**
 * Properties are tried with the same values each time: whether a change passes is about the change. Other values:
 * `PROPERTY_SEED=$RANDOM npx vitest run --project unit --project wire property`.
 */
import process from "node:process";
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env["PROPERTY_SEED"] ?? "1") });
