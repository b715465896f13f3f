"""The official Python SDK, 2.x: its Client in the era that the first word says."""

import asyncio
import sys

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from common import COMMAND, decision, run, tell, text_of

forms = []
progress = []


async def person(context, params):
    forms.append(params.message)
    return types.ElicitResult(action="accept", content={"confirmed": True})


async def told(now, total, message):
    progress.append(now)


async def main():
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    async with Client(stdio_client(server), mode=sys.argv[1], elicitation_callback=person) as client:
        tools = await client.list_tools()
        listed = await client.call_tool("list_workflows", {})
        saved = await client.call_tool("run_workflow", run("saved", "slow"), progress_callback=told)
        again = await client.call_tool("get_run", {"run_id": saved.structured_content["run_id"]})
        try:
            wrong = await client.call_tool("no_such_tool", {})
            unknown = "isError" if wrong.is_error else "taken"
        except MCPError as error:
            unknown = error.error.code
        paused = await client.call_tool("run_workflow", run("paused", "pause"))
        item = text_of(await client.call_tool("get_attention_item", {"attention_id": paused.structured_content["needs_attention_id"]}))
        decided = await client.call_tool("reject_attention", decision(item["id"], item["capability"]["digest"]))
        tell(
            protocol=client.protocol_version,
            tools=[tool.name for tool in tools.tools],
            workflows=len(listed.structured_content["workflows"]),
            saved=saved.structured_content["outcome"],
            again=again.structured_content["outcome"],
            unknown=unknown,
            elicited=len(forms),
            decision=text_of(decided)["status"],
            progress=progress == sorted(progress) and len(progress) > 0,
        )


asyncio.run(main())
