/**
 * `/api/templates`: prompts that are kept under a name, for every browser that uses this dashboard. They are one value of the
 * database, in memory since the start.
 */
import {
  type DashboardTemplate,
  removeTemplateSchema,
  saveTemplateSchema,
  templatesSchema,
} from "../../protocol/api/dashboard.ts";
import { parse, tryParse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import { parseJson } from "../../protocol/text/jsonObject.ts";
import type { Route } from "../kit/guard/routes.ts";
import { MAX_TEMPLATES, SMALL_MAX_BODY_BYTES } from "./dashboardLimits.ts";
import type { DashboardParts } from "./dashboardParts.ts";
import { GET, POST } from "./dashboardRoutes.ts";

const SETTING = "prompt_templates";

const response = { 200: templatesSchema } as const;
const CHANGE = { ...POST, maxJsonBytes: SMALL_MAX_BODY_BYTES, response } as const;

export function templateRoutes({ store }: DashboardParts): readonly Route[] {
  let templates = kept(store.setting(SETTING));
  const keep = (next: readonly DashboardTemplate[]) => {
    store.requireWritable();
    templates = [...next].sort((a, b) => a.name.localeCompare(b.name));
    store.keepSetting(SETTING, JSON.stringify(templates));
    return { templates };
  };
  return [
    {
      ...GET,
      path: "/api/templates",
      response,
      errors: [],
      handle: (c) => c.json({ templates }),
    },
    {
      ...CHANGE,
      path: "/api/templates",
      request: saveTemplateSchema,
      errors: ["INVALID_ARGUMENT", "ALREADY_EXISTS", "RESOURCE_LIMIT"],
      handle: (c) => {
        const { name, text, replaces = name } = parse(saveTemplateSchema, c.get("json"));
        const others = templates.filter((one) => one.name !== replaces);
        if (others.some((one) => one.name === name))
          throw new AppError("ALREADY_EXISTS", `there is a template "${name}"; choose another name`);
        if (others.length >= MAX_TEMPLATES)
          throw new AppError("RESOURCE_LIMIT", `there are ${MAX_TEMPLATES} templates; remove one first`);
        return c.json(keep([...others, { name, text }]));
      },
    },
    {
      ...CHANGE,
      path: "/api/templates/remove",
      request: removeTemplateSchema,
      errors: ["INVALID_ARGUMENT", "NOT_FOUND", "RESOURCE_LIMIT"],
      handle: (c) => {
        const { name } = parse(removeTemplateSchema, c.get("json"));
        const others = templates.filter((one) => one.name !== name);
        if (others.length === templates.length) throw new AppError("NOT_FOUND", `there is no template "${name}"`);
        return c.json(keep(others));
      },
    },
  ];
}

/** Of another version or somebody's hand: what cannot be read is as good as none. */
function kept(value: string | undefined): readonly DashboardTemplate[] {
  const read = tryParse(templatesSchema, { templates: parseJson(value ?? "[]") });
  return read.success ? read.output.templates.slice(0, MAX_TEMPLATES) : [];
}
