// mcporter, as a command line.

import { command, json, name, ran, run, shell, tell } from "./cli.mjs";

const porter = (...words) => ran("node_modules/mcporter/dist/cli.js", words);
const server = ["--stdio", shell(command), "--name", name];
const call = (tool, args) =>
  json(porter("call", ...server, tool, "--args", JSON.stringify(args), "--output", "json").text);

const list = porter("list", ...server, "--json");
const wrong = porter("call", ...server, "get_run", "--args", JSON.stringify({ run_id: "no run" }), "--output", "json");
const saved = call("run_workflow", run);
tell({
  tools: json(list.text).tools.map((tool) => tool.name),
  workflows: call("list_workflows", {}).workflows.length,
  saved: saved.outcome,
  again: call("get_run", { run_id: saved.run_id }).outcome,
  unknown: wrong.status === 0 && !wrong.text.includes("error") ? "taken" : "refused",
});
process.exit(list.status);
