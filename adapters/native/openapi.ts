/** OpenAPI 3.1, generated from the endpoint table and the schemas that validate requests. */
import { errorResponseSchema } from "../../protocol/api/native/nativeResponses.ts";
import { IDEMPOTENCY_KEY_HEADER } from "../../protocol/api/native/nativeDelivery.ts";
import { STREAM_PROTOCOL } from "../../protocol/api/native/nativeFrames.ts";
import { type ErrorCode, ERROR_SURFACES } from "../../protocol/errors.ts";
import { jsonSchema as schemaOf } from "../serving/jsonSchema.ts";
import { type Endpoint, ENDPOINTS } from "./endpoints.ts";

export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of ENDPOINTS) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "tmuxwire",
      version,
      description: "tmux panes: exact input, sequenced streams, waits without polling.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The daemon that serves this document, by default at http://127.0.0.1:7420." }],
    paths,
    components: {
      schemas: { Error: jsonSchema(errorResponseSchema, "output") },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The token from the daemon's token file." },
      },
    },
  };
}

function operation(endpoint: Endpoint): object {
  const { id, summary, description, auth, body, example } = endpoint;
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    security: auth ? [{ bearer: [] }] : [],
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint), ...headerParameters(endpoint)],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: json(jsonSchema(body, "input"), example.input) } }),
    responses: { ...success(endpoint), ...failures(endpoint) },
  };
}

/** Generators of clients name the members of a union by their titles, which must differ within an object, else by numbers. */
const jsonSchema = (...args: Parameters<typeof schemaOf>): Readonly<Record<string, unknown>> =>
  titled(schemaOf(...args), "");

interface Member {
  readonly title?: string;
  readonly properties?: Readonly<Record<string, { readonly const?: unknown }>>;
  readonly required?: readonly string[];
}

/** @param field the property that the schema is of, or of whose items */
function titled<Schema>(schema: Schema, field: string): Schema {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((part: unknown) => titled(part, field)) as Schema;
  const entries = Object.entries(schema).map(([name, part]: [string, unknown]) => {
    if (name === "properties") {
      const fields = Object.entries(part as object).map(([each, of]: [string, unknown]) => [each, titled(of, each)]);
      return [name, Object.fromEntries(fields) as unknown];
    }
    const inside = titled(part, field);
    const isUnion = (name === "anyOf" || name === "oneOf") && Array.isArray(inside);
    return [name, isUnion ? (inside as Member[]).map((member) => withTitle(member, field)) : inside];
  });
  return Object.fromEntries(entries) as Schema;
}

/** After the field and its `kind`, or else what it requires first: `PatternLiteral`. */
function withTitle(member: Member, field: string): Member {
  const { properties, required = [] } = member;
  const kind = properties?.["kind"]?.const ?? required[0];
  if (properties === undefined || typeof kind !== "string") return member;
  return { title: [field, kind].map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join(""), ...member };
}

const json = (schema: object, example: unknown): object => ({ "application/json": { schema, example } });

function success(endpoint: Endpoint): object {
  const { response, status, example } = endpoint;
  const { output } = example;
  switch (response) {
    case "events":
      return { 200: plain("Events.", "text/event-stream", output) };
    case "socket":
      return { 101: { description: `The connection switches to the WebSocket protocol ${STREAM_PROTOCOL}.` } };
    case "document":
      return { 200: { description: "OpenAPI 3.1.", content: json({ type: "object" }, output) } };
    case "recording":
      return { 200: plain("The recording.", "application/x-asciicast", output) };
    case "text":
      return { 200: plain("The text.", "text/plain; version=0.0.4", output) };
    default: {
      const text = endpoint.operation?.plainText?.(output, example.input).text;
      const asText = text === undefined ? {} : { "text/plain": { schema: { type: "string" }, example: text } };
      const content = { ...json(jsonSchema(response, "output"), output), ...asText };
      return { [status ?? 200]: { description: "Done.", content } };
    }
  }
}

const plain = (description: string, type: string, example: unknown): object => ({
  description,
  content: { [type]: { schema: { type: "string" }, example } },
});

/** One response per status, with all the codes that have it. */
function failures({ errors, auth, body, response, failed }: Endpoint): object {
  const common = body === undefined ? [] : (["INVALID_ARGUMENT", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const);
  const codes = new Set([...(auth ? (["UNAUTHORIZED"] as const) : []), "FORBIDDEN" as const, ...common, ...errors]);
  const byStatus: Record<number, ErrorCode[]> = {};
  for (const code of codes) (byStatus[ERROR_SURFACES[code].httpStatus] ??= []).push(code);
  const responses = Object.entries(byStatus).map(([status, names]) => [status, failure(names)]);
  // Only 101 is a success here.
  if (response === "socket") responses.push(["default", failure(["INTERNAL_ERROR"])]);
  if (failed !== undefined) {
    const content = json(jsonSchema(failed.response, "output"), failed.example);
    responses.push([String(failed.status), { description: failed.description, content }]);
  }
  return Object.fromEntries(responses);
}

function failure(codes: readonly ErrorCode[]): object {
  const example = { error: { code: codes[0], message: "What to do next, in one line." } };
  return { description: codes.join(", "), content: json({ $ref: "#/components/schemas/Error" }, example) };
}

/** The path parameters. */
const PARAMETERS: Readonly<Record<string, { readonly description: string; readonly example: string }>> = {
  server: {
    description: "The name of a tmux server, as `listServers` returns it; one of another machine ends in `@HOST`.",
    example: "main",
  },
  session: { description: "A session's exact name, or its id such as $3.", example: "work" },
  pane: {
    description: "A pane's number (5 for %5), a session's name for its active pane, or an agent's name.",
    example: "5",
  },
  agent: { description: "An agent's name, or its id as `listAgents` returns it.", example: "api" },
  worktree: { description: "A worktree's name, as `listWorktrees` returns it.", example: "shop-agent-api" },
  message: { description: "A message's id, as `tell` returns it.", example: "msg-0a1b2c3d4e5f607182" },
  host: { description: "A host's name, as `listHosts` returns it.", example: "build" },
  notification: { description: "A channel's name, as `listChannels` returns it.", example: "phone" },
  recording: { description: "A recording's id, as `listRecordings` returns it.", example: "20261120T064247Z-1f2e3d4c" },
};

function pathParameters({ path }: Endpoint): object[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...PARAMETERS[name],
  }));
}

function queryParameters({ query, example }: Endpoint): object[] {
  if (query === undefined) return [];
  const { properties = {} } = jsonSchema(query, "input") as { properties?: Record<string, { description?: string }> };
  const examples = example.input as Readonly<Record<string, unknown>>;
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: false,
    description,
    schema,
    ...(examples[name] === undefined ? {} : { example: examples[name] }),
  }));
}

function headerParameters({ response, idempotent }: Endpoint): object[] {
  return [
    ...(response === "events"
      ? [header("Last-Event-ID", "The id of the last event received; the stream resumes after it.", "k3Jd9:1024")]
      : []),
    ...(response === "socket"
      ? [header("Sec-WebSocket-Protocol", "The client's protocol; a browser adds its token.", STREAM_PROTOCOL)]
      : []),
    ...(idempotent === true
      ? [header(IDEMPOTENCY_KEY_HEADER, "Requests with the same key are performed once.", "task-17")]
      : []),
  ];
}

const header = (name: string, description: string, example: string): object => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string" },
  example,
});
