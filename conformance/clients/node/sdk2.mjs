// The official TypeScript SDK, v2, in the era that the first word says.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { command, drive } from "./common.mjs";

const seen = { forms: 0 };
const mode = process.argv[2];
const client = new Client(
  { name: "sdk2", version: "1" },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
);
client.setRequestHandler("elicitation/create", async () => {
  seen.forms += 1;
  return { action: "accept", content: { confirmed: true } };
});
const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "ignore" });
await client.connect(transport);
await drive({
  listTools: () => client.listTools(),
  call: (params, onprogress) => client.callTool(params, { onprogress }),
  seen,
  protocol: () => client.getNegotiatedProtocolVersion?.() ?? mode,
});
await client.close();
