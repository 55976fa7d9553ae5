// Bundles src/ into $PAGE_OUT (default dist/): one page, its scripts, styles and fonts, each named by what is in it.
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

import { build } from "esbuild";

const out = process.env.PAGE_OUT ?? "dist";
const stamp = process.env.PAGE_STAMP ?? "by-hand";

/** Licences of what is bundled go with it. */
async function licences(inputs) {
  const packages = new Set();
  for (const input of Object.keys(inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.add(found[1]);
  }
  const parts = [];
  for (const name of [...packages].sort()) {
    const folder = join("node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? await readFile(join(folder, file), "utf8") : "";
    parts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const shared = { bundle: true, minify: true, target: ["es2022", "chrome109", "firefox115", "safari16.4"], outdir: out, metafile: true };
const early = await build({ ...shared, entryPoints: ["src/early.ts"], format: "iife", entryNames: "[name]-[hash]" });
const made = await build({
  ...shared,
  entryPoints: { app: "src/main.tsx", layout: "src/graph/worker.ts" },
  splitting: true,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  entryNames: "[name]-[hash]",
  chunkNames: "chunk-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".woff2": "file" },
  legalComments: "none",
});

const files = Object.entries(made.metafile.outputs);
const named = (entry) => files.find(([, one]) => one.entryPoint === entry);
const [app, { cssBundle }] = named("src/main.tsx");
const [first] = Object.keys(early.metafile.outputs);
const [worker] = named("src/graph/worker.ts");

const icon = await readFile("src/icon.svg");
const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
await writeFile(join(out, iconName), icon);
await writeFile(join(out, "licences.txt"), await licences(made.metafile.inputs));

const values = {
  stamp,
  app: basename(app),
  style: basename(cssBundle),
  early: basename(first),
  worker: basename(worker),
  icon: iconName,
};
const page = await readFile("src/index.html", "utf8");
await writeFile(
  join(out, "index.html"),
  page.replace(/\{\{(\w+)\}\}/g, (_, name) => {
    if (!(name in values)) throw new Error(`index.html asks for ${name}, which build.mjs does not know`);
    return values[name];
  }),
);
