// The official conformance suite, which speaks HTTP only, through the bridge. Every scenario that a revision requires is run; what this
// server doesn't offer, and what is about HTTP alone, is listed in suite.json with its reason. Everything else must pass, and an
// entry of the list that passes is told as stale.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "./bridge.mjs";

const revision = process.argv[2];
const known = JSON.parse(readFileSync("suite.json", "utf8"));
const results = mkdtempSync(join(tmpdir(), "suite-"));
const { url, close } = await serve(JSON.parse(process.env.SERVER_COMMAND));
const suite = spawn(
  process.execPath,
  ["node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", url, "--requirements", revision, "-o", results],
  { stdio: ["ignore", "pipe", "pipe"] },
);
suite.stdout.on("data", (text) => process.stderr.write(text));
suite.stderr.on("data", (text) => process.stderr.write(text));
await new Promise((ended) => suite.on("exit", ended));
close();

const checks = readdirSync(results).flatMap((folder) => {
  const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
  const found = JSON.parse(readFileSync(join(results, folder, "checks.json"), "utf8"));
  return found.map((check) => ({ scenario, ...check }));
});
rmSync(results, { recursive: true });
const excused = ({ scenario, id }) =>
  known.some((entry) => (entry.scenario ? new RegExp(`^(${entry.scenario})$`).test(scenario) : new RegExp(`^(${entry.check})$`).test(id)));
const failed = checks.filter(({ status }) => status === "FAILURE");
const unexpected = failed.filter((check) => !excused(check));
for (const { scenario, id, errorMessage } of unexpected) console.error(`UNEXPECTED ${scenario} ${id}: ${errorMessage}`);
const passed = checks.filter(({ status }) => status === "SUCCESS").length;
console.log(
  JSON.stringify({
    content: checks.length > 40 && passed > 0 && unexpected.length === 0,
    passed,
    not_offered: failed.length - unexpected.length,
    said: unexpected.map(({ id }) => id).join(" ") || "nothing unexpected",
  }),
);
