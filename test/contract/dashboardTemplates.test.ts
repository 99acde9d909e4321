/** `/api/templates`: prompts that the dashboard keeps under a name (docs/contracts/dashboard.md §5). */
import { expect, test } from "vitest";
import { MAX_TEMPLATES } from "../../adapters/dashboard/dashboardLimits.ts";
import { MIGRATIONS } from "../../adapters/dashboard/store/schema.ts";
import { openDatabase } from "../../daemon/ops/sql/database.ts";
import { databaseDirectory } from "../support/daemon/dashboardFixture.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";

eachHasScene();

const save = (body: object) => scene.dashboard.call("POST", "/api/templates", body);
const remove = (name: string) => scene.dashboard.call("POST", "/api/templates/remove", { name });
const list = async () => (await scene.dashboard.call("GET", "/api/templates")).json["templates"];

test("templates are kept, changed and removed, also over a restart", async () => {
  const restart = await scene.onDisk();
  expect(await list()).toEqual([]);
  await save({ name: " review ", text: "Review {branch}\n- <b>all</b>" });
  const both = [
    { name: "fix", text: "Fix it" },
    { name: "review", text: "Review {branch}\n- <b>all</b>" },
  ];
  expect((await save({ name: "fix", text: "Fix it" })).json).toEqual({ templates: both });
  await restart();
  expect(await list()).toEqual(both);
  await save({ name: "fix", text: "Fix it now" });
  await save({ name: "look", text: "Look", replaces: "review" });
  expect(await list()).toEqual([
    { name: "fix", text: "Fix it now" },
    { name: "look", text: "Look" },
  ]);
  expect((await remove("look")).json).toEqual({ templates: [{ name: "fix", text: "Fix it now" }] });
});

test("what was kept and cannot be read is as good as none", async () => {
  using directory = databaseDirectory();
  await scene.dashboard[Symbol.asyncDispose]();
  const databasePath = `${directory.path}/d.db`;
  for (const value of ["no JSON", '[{"name":1}]']) {
    scene.dashboard = await scene.another({ databasePath });
    await scene.dashboard[Symbol.asyncDispose]();
    const database = openDatabase({
      path: databasePath,
      setting: "",
      migrations: MIGRATIONS,
      nowUnixMs: () => 0,
      onMovedAside: () => undefined,
    });
    database.prepare("INSERT OR REPLACE INTO meta VALUES ('prompt_templates', ?)").run(value);
    database.close();
    scene.dashboard = await scene.another({ databasePath });
    expect(await list()).toEqual([]);
    expect((await save({ name: "a", text: "1" })).status).toBe(200);
    await scene.dashboard[Symbol.asyncDispose]();
  }
  scene.dashboard = await scene.another({ databasePath });
});

test("a name is taken once, and one that is not there is not removed", async () => {
  await save({ name: "a", text: "1" });
  await save({ name: "b", text: "2" });
  const taken = await save({ name: "a", text: "3", replaces: "b" });
  expect([taken.status, taken.json]).toMatchObject([
    409,
    { error_type: "already_exists", message: 'there is a template "a"; choose another name' },
  ]);
  const missing = await remove("c");
  expect([missing.status, missing.json["message"]]).toEqual([404, 'there is no template "c"']);
  expect(await list()).toEqual([
    { name: "a", text: "1" },
    { name: "b", text: "2" },
  ]);
});

test.each([
  {},
  { name: "", text: "x" },
  { name: " ", text: "x" },
  { name: "a\nb", text: "x" },
  { name: "a".repeat(65), text: "x" },
  { name: "a", text: " \n" },
  { name: "a", text: "x".repeat(8_193) },
  { name: "a", text: "x", zap: 1 },
])("%j is refused", async (body) => {
  const { status, json } = await save(body);
  expect([status, json["error_type"]]).toEqual([400, "invalid_argument"]);
  expect(await list()).toEqual([]);
});

test("there are at most so many", async () => {
  for (let at = 0; at < MAX_TEMPLATES; at += 1) await save({ name: `t${at}`, text: "x".repeat(8_192) });
  const refused = await save({ name: "one more", text: "x" });
  expect([refused.status, refused.json["error_type"]]).toEqual([429, "resource_limit"]);
  // Another text under a name that is there.
  expect((await save({ name: "t1", text: "y" })).status).toBe(200);
});
