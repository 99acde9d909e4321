/** The predicates there are, in the order in which help, schemas and results name them. */
import { bell } from "./bell.ts";
import { cursor } from "./cursor.ts";
import { exit } from "./exit.ts";
import { gone } from "./gone.ts";
import { pattern } from "./pattern.ts";
import { prompt } from "./prompt.ts";
import { ready } from "./ready.ts";
import { stable } from "./stable.ts";
import { title } from "./title.ts";

export const PREDICATES = [pattern, stable, exit, prompt, gone, ready, bell, title, cursor] as const;
