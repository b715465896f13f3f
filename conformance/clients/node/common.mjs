// What every client from npm is asked to do, and what it says about it.

export const command = JSON.parse(process.env.SERVER_COMMAND);
const name = process.env.CLIENT_NAME;

const run = (word, note) => ({
  name: "run_workflow",
  arguments: { workflow: "triage", request_id: `${name}-${word}`, inputs: { note }, wait_seconds: 60 },
});

const textOf = (result) => JSON.parse(result.content[0].text);

/** `call` is the client's own way to call a tool; `seen` is what its handlers filled in. */
export async function drive({ listTools, call, seen, protocol }) {
  const tools = await listTools();
  const listed = await call({ name: "list_workflows", arguments: {} });
  const progress = [];
  const saved = await call(run("saved", "slow"), (told) => progress.push(told.progress));
  const again = await call({ name: "get_run", arguments: { run_id: saved.structuredContent.run_id } });
  let unknown = "taken";
  try {
    const wrong = await call({ name: "no_such_tool", arguments: {} });
    if (wrong.isError) unknown = "isError";
  } catch (error) {
    unknown = error.code;
  }
  const paused = await call(run("paused", "pause"));
  const attention_id = paused.structuredContent.needs_attention_id;
  const item = textOf(await call({ name: "get_attention_item", arguments: { attention_id } }));
  const decided = await call({
    name: "reject_attention",
    arguments: {
      attention_id,
      capability_digest: item.capability.digest,
      idempotency_key: `${name}-decision-0001`,
      confirm_run_must_not_proceed: true,
    },
  });
  const growing = progress.length > 0 && progress.every((now, at) => at === 0 || now > progress[at - 1]);
  console.log(
    JSON.stringify({
      protocol: protocol(),
      tools: tools.tools.map((tool) => tool.name),
      workflows: listed.structuredContent.workflows.length,
      saved: saved.structuredContent.outcome,
      again: again.structuredContent.outcome,
      unknown,
      elicited: seen.forms,
      decision: textOf(decided).status,
      progress: growing,
    }),
  );
}
