// The MCP inspector's command line, in the era that the first word says.

import { json, program, ran, run, tell } from "./cli.mjs";

const era = process.argv[2];
const server = program();
const inspect = (...words) =>
  ran("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js", [
    "--cli", server, ...words, "--protocol-era", era, "--format", "json",
  ]);
const call = (tool, args) => inspect("--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));
const result = (answer) => json(answer.text).result ?? json(answer.text);

const list = inspect("--method", "tools/list", "--strict");
const listed = result(call("list_workflows", {}));
const saved = result(call("run_workflow", run));
const again = result(call("get_run", { run_id: saved.structuredContent.run_id }));
const wrong = call("get_run", { run_id: "no run" });
tell({
  tools: result(list).tools.map((tool) => tool.name),
  workflows: listed.structuredContent.workflows.length,
  saved: saved.structuredContent.outcome,
  again: again.structuredContent.outcome,
  unknown: wrong.status === 0 ? "taken" : `exit ${wrong.status}`,
});
process.exit(list.status);
