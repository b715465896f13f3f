"""fastmcp's client, which chooses the era by itself."""

import asyncio

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.shared.exceptions import MCPError

from common import COMMAND, decision, run, tell, text_of

forms = []
progress = []


async def person(message, response_type, params, context):
    forms.append(message)
    return {"confirmed": True}


async def told(now, total, message):
    progress.append(now)


async def main():
    transport = StdioTransport(command=COMMAND[0], args=COMMAND[1:])
    async with Client(transport, elicitation_handler=person) as client:
        tools = await client.list_tools()
        listed = await client.call_tool("list_workflows", {})
        saved = await client.call_tool("run_workflow", run("saved", "slow"), progress_handler=told)
        again = await client.call_tool("get_run", {"run_id": saved.structured_content["run_id"]})
        try:
            await client.call_tool("no_such_tool", {})
            unknown = "taken"
        except MCPError as error:
            unknown = error.error.code
        except Exception as error:
            unknown = type(error).__name__
        paused = await client.call_tool("run_workflow", run("paused", "pause"))
        item = text_of(await client.call_tool("get_attention_item", {"attention_id": paused.structured_content["needs_attention_id"]}))
        decided = await client.call_tool("reject_attention", decision(item["id"], item["capability"]["digest"]))
        tell(
            tools=[tool.name for tool in tools],
            workflows=len(listed.structured_content["workflows"]),
            saved=saved.structured_content["outcome"],
            again=again.structured_content["outcome"],
            unknown=unknown,
            elicited=len(forms),
            decision=text_of(decided)["status"],
            progress=progress == sorted(progress) and len(progress) > 0,
        )


asyncio.run(main())
