/** Bodies of very many small values: refused before anything is made of them, whatever a route does with its body. */
import { expect, test } from "vitest";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { MAX_JSON_VALUES } from "../../protocol/text/jsonShape.ts";
import { tryParse } from "../../protocol/api/parse.ts";
import { inputRequestSchema } from "../../protocol/api/nativeRequests.ts";

const PATH = "/v1/servers/main/panes/0/input";

test.each([
  ["numbers", "1"],
  ["objects", "{}"],
  ["parts", '{"kind":"text","text":"a"}'],
])("2 MB of %s", async (_what, item) => {
  await using api = await nativeFixture(stubServer());
  const list = `${`${item},`.repeat(Math.floor(1_990_000 / (item.length + 1)))}${item}`;
  for (const body of [`[${list}]`, `{"parts":[${list}]}`]) {
    const { status, json } = await api.call("POST", PATH, body);
    expect([status, json["error"]]).toMatchObject([
      400,
      { code: "INVALID_ARGUMENT", message: expect.stringContaining(`more than ${MAX_JSON_VALUES} values`) as string },
    ]);
  }
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
  expect(tryParse(inputRequestSchema, { parts })).toMatchObject({ success: false, path: "parts.0.kind" });
  // The recognizer looks as well, and a variant more than once at its own.
  expect(looked).toBeLessThan(20);
});
