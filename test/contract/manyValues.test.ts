/** Bodies of very many small values: refused before anything is made of them, whatever a route does with its body. */
import { expect, test } from "vitest";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { MAX_JSON_MEMBERS, MAX_JSON_VALUES } from "../../protocol/text/jsonShape.ts";
import { tryParse } from "../../protocol/api/parse.ts";
import { isPlainInput, MAX_INPUT_KEYS, MAX_INPUT_PARTS } from "../../protocol/api/plainInput.ts";
import { inputRequestSchema } from "../../protocol/api/native/nativeRequests.ts";

const PATH = "/v1/servers/main/panes/0/input";

test.each([
  ["numbers", "1", MAX_JSON_VALUES],
  ["objects", "{}", MAX_JSON_MEMBERS],
  ["lists", "[]", MAX_JSON_MEMBERS],
  ["parts", '{"kind":"text","text":"a"}', MAX_JSON_MEMBERS],
])("2 MB of %s", async (_what, item, most) => {
  await using api = await nativeFixture(stubServer());
  const list = `${`${item},`.repeat(Math.floor(1_990_000 / (item.length + 1)))}${item}`;
  for (const body of [`[${list}]`, `{"parts":[${list}]}`]) {
    const { status, json } = await api.call("POST", PATH, body);
    expect([status, json["error"]]).toMatchObject([
      400,
      { code: "INVALID_ARGUMENT", message: expect.stringContaining(`more than ${most} `) as string },
    ]);
  }
});

test("one object of very many fields", async () => {
  await using api = await nativeFixture(stubServer());
  const fields = Array.from({ length: MAX_JSON_MEMBERS + 1 }, (_, at) => `"${at}":1`).join();
  const { status, json } = await api.call("POST", PATH, `{${fields}}`);
  expect([status, json["error"]]).toMatchObject([400, { message: expect.stringContaining("fields") as string }]);
});

test("the largest body that the contract allows is taken: 256 parts of 1,024 keys", async () => {
  const server = stubServer();
  await server.createSession({ name: "work" });
  await using api = await nativeFixture(server);
  const keys = Array<string>(MAX_INPUT_KEYS).fill("a");
  const parts = Array.from({ length: MAX_INPUT_PARTS }, () => ({ kind: "keys", keys }));
  expect((await api.call("POST", PATH, { parts })).status).toBe(200);
  // With a profile it is recognised without the schema, too: that takes long for so many.
  expect(isPlainInput({ parts, profile: "shell" })).toBe(true);
});

test("brackets and commas inside text do not count", async () => {
  const server = stubServer();
  await server.createSession({ name: "work" });
  await using api = await nativeFixture(server);
  const { status } = await api.call("POST", PATH, { parts: [{ kind: "text", text: '[{"a":1},'.repeat(50_000) }] });
  expect(status).toBe(200);
});

test("only the first error of a list with an error in each item is reported", () => {
  let looked = 0;
  const parts = Array.from({ length: 1_000 }, () => ({
    get kind() {
      looked += 1;
      return "no such kind";
    },
  }));
  expect(tryParse(inputRequestSchema, { parts })).toMatchObject({ success: false, fault: { path: "parts.0.kind" } });
  // The recognizer looks as well, and a variant more than once at its own.
  expect(looked).toBeLessThan(20);
});
