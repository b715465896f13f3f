// The official TypeScript SDK, v1.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { command, drive } from "./common.mjs";

const seen = { forms: 0 };
const client = new Client({ name: "sdk1", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async () => {
  seen.forms += 1;
  return { action: "accept", content: { confirmed: true } };
});
const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" });
let protocol;
transport.setProtocolVersion = (version) => (protocol = version);
await client.connect(transport);
await drive({
  listTools: () => client.listTools(),
  call: (params, onprogress) => client.callTool(params, undefined, { onprogress }),
  seen,
  protocol: () => protocol,
});
await client.ping();
await client.close();
