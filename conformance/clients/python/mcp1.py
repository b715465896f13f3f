"""The official Python SDK, 1.x: ClientSession over stdio, with forms."""

import asyncio

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

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
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write, elicitation_callback=person) as session:
            hello = await session.initialize()
            tools = await session.list_tools()
            listed = await session.call_tool("list_workflows", {})
            saved = await session.call_tool("run_workflow", run("saved", "slow"), progress_callback=told)
            again = await session.call_tool("get_run", {"run_id": saved.structuredContent["run_id"]})
            try:
                wrong = await session.call_tool("no_such_tool", {})
                unknown = "isError" if wrong.isError else "taken"
            except McpError as error:
                unknown = error.error.code
            paused = await session.call_tool("run_workflow", run("paused", "pause"))
            item = text_of(await session.call_tool("get_attention_item", {"attention_id": paused.structuredContent["needs_attention_id"]}))
            decided = await session.call_tool("reject_attention", decision(item["id"], item["capability"]["digest"]))
            await session.send_ping()
            tell(
                protocol=hello.protocolVersion,
                tools=[tool.name for tool in tools.tools],
                workflows=len(listed.structuredContent["workflows"]),
                saved=saved.structuredContent["outcome"],
                again=again.structuredContent["outcome"],
                unknown=unknown,
                elicited=len(forms),
                decision=text_of(decided)["status"],
                progress=progress == sorted(progress) and len(progress) > 0,
            )


asyncio.run(main())
