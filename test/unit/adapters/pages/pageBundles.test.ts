/** What the build makes of the pages: every file that is served, compressed beside it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundlePage } from "../../../support/page/pageBundle.ts";

test.each(["dashboard", "freshell"] as const)(
  "the files of %s are there compressed, the same and smaller",
  (name) => {
    using bundle = bundlePage(name);
    const files = readdirSync(bundle.directory);
    const served = files.filter((file) => /\.(?:html|js|css|svg)$/.test(file));
    expect(served).toEqual(expect.arrayContaining(["index.html", "page.js", "page.css", "icon.svg"]));
    const read = (file: string): Buffer => readFileSync(join(bundle.directory, file));
    for (const file of served) {
      expect(files).toContain(`${file}.gz`);
      expect(gunzipSync(read(`${file}.gz`)).equals(read(file))).toBe(true);
      expect(read(`${file}.gz`).length).toBeLessThan(read(file).length);
    }
  },
  60_000,
);
