/** OpenAPI 3.1 from the endpoint table and the schemas that validate requests: nothing is described twice. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { errorAnswerSchema } from "../../protocol/api/nativeAnswers.ts";
import { ERROR_SURFACES } from "../../protocol/errors.ts";
import { type Endpoint, ENDPOINTS } from "./endpoints.ts";

export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of ENDPOINTS) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "tmuxwire", version, description: "Panes of tmux: exact input, sequenced streams, instant waits." },
    paths,
    components: {
      schemas: { Error: jsonSchema(errorAnswerSchema, "output") },
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
    },
  };
}

function operation(endpoint: Endpoint): object {
  const { id, summary, auth, body } = endpoint;
  return {
    operationId: id,
    summary,
    ...(auth ? { security: [{ bearer: [] }] } : {}),
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint), ...headerParameters(endpoint)],
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(jsonSchema(body, "input")) } }),
    responses: { ...success(endpoint), ...failures(endpoint) },
  };
}

const json = (schema: object): object => ({ "application/json": { schema } });

function success({ answer, status, id }: Endpoint): object {
  switch (answer) {
    case "events":
      return { 200: { description: "Events.", content: { "text/event-stream": { schema: { type: "string" } } } } };
    case "socket":
      return { 101: { description: "The WebSocket protocol tmuxwire.v1 follows." } };
    case "text": {
      const type = id === "openapi" ? "application/json" : "text/plain; version=0.0.4";
      return { 200: { description: "The text.", content: { [type]: {} } } };
    }
    default:
      return { [status ?? 200]: { description: "Done.", content: json(jsonSchema(answer, "output")) } };
  }
}

/** One response per status; codes that share one stand side by side. */
function failures({ errors, auth, body }: Endpoint): object {
  const common = body === undefined ? [] : (["INVALID_ARGUMENT", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const);
  const codes = new Set([...(auth ? (["UNAUTHORIZED"] as const) : []), ...common, ...errors]);
  const byStatus: Record<number, string[]> = {};
  for (const code of codes) (byStatus[ERROR_SURFACES[code].httpStatus] ??= []).push(code);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, names]) => [
      status,
      { description: names.join(", "), content: json({ $ref: "#/components/schemas/Error" }) },
    ]),
  );
}

function pathParameters({ path }: Endpoint): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...(name === "pane" ? { description: "A pane's number (5 for %5), or a session's name: its active pane." } : {}),
  }));
}

function queryParameters({ query }: Endpoint): object[] {
  if (query === undefined) return [];
  const { properties = {} } = jsonSchema(query, "input") as { properties?: Record<string, object> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
}

function headerParameters({ id, idempotent }: Endpoint): object[] {
  const names = [
    ...(id === "follow" || id === "serverEvents" ? ["Last-Event-ID"] : []),
    ...(idempotent === true ? ["Idempotency-Key"] : []),
  ];
  return names.map((name) => ({ name, in: "header", required: false, schema: { type: "string" } }));
}

/** Checks that JSON Schema cannot say are left out; the daemon makes them all the same. */
function jsonSchema(schema: GenericSchema, typeMode: "input" | "output"): object {
  const { $schema: _draft, ...rest } = toJsonSchema(schema, { typeMode, errorMode: "ignore", target: "draft-2020-12" });
  return rest;
}
