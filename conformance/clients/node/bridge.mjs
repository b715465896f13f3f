// Serves a stdio server over Streamable HTTP, on this computer only, for suites that speak nothing else. A part of the tests: never
// of the product. One child for each session of the older eras, one for all requests that carry their own version.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

const LOCAL = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** In the newest era errors of the protocol have a status of HTTP, too. */
const statusOf = ({ error }) => (error === undefined ? 200 : error.code === -32601 ? 404 : 400);

class Child {
  constructor(command, stateless) {
    this.stateless = stateless;
    this.process = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] });
    this.streams = new Map();
    createInterface({ input: this.process.stdout, crlfDelay: Infinity }).on("line", (line) => this.received(JSON.parse(line)));
    this.process.on("exit", () => this.streams.forEach((stream) => stream.end()));
  }

  received(message) {
    const answered = message.method === undefined ? JSON.stringify(message.id) : undefined;
    const stream = this.streams.get(answered) ?? [...this.streams.values()].at(-1);
    if (stream && !stream.headersSent) stream.writeHead(this.stateless ? statusOf(message) : 200, stream.later);
    stream?.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    if (answered !== undefined && this.streams.delete(answered)) stream.end();
  }

  send(message) {
    this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  close() {
    this.process.stdin.end();
  }
}

export async function serve(command) {
  const sessions = new Map();
  let stateless;
  const server = createServer(async (request, response) => {
    const refuse = (status, code, message, id = null) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
    };
    const origin = request.headers.origin;
    if (!LOCAL.test(request.headers.host ?? "") || (origin && !LOCAL.test(new URL(origin).host))) {
      return refuse(403, -32000, "Not from here");
    }
    const session = sessions.get(request.headers["mcp-session-id"]);
    if (request.method === "DELETE") {
      session?.close();
      sessions.delete(request.headers["mcp-session-id"]);
      response.writeHead(session ? 200 : 404).end();
      return;
    }
    if (request.method !== "POST") return response.writeHead(405, { allow: "POST, DELETE" }).end();
    let body = "";
    for await (const part of request) body += part;
    let message;
    try {
      message = JSON.parse(body);
    } catch {
      return refuse(400, -32700, "Parse error");
    }
    let child = session;
    const headers = { "content-type": "text/event-stream", "cache-control": "no-store" };
    if (message.method === "initialize") {
      child = new Child(command, false);
      headers["mcp-session-id"] = randomUUID();
      sessions.set(headers["mcp-session-id"], child);
    } else if (!child) {
      if (request.headers["mcp-session-id"]) return refuse(404, -32001, "Session not found", message.id);
      child = stateless ??= new Child(command, true);
    }
    if (message.method === undefined || message.id === undefined) {
      child.send(message);
      return response.writeHead(202).end();
    }
    response.later = headers;
    child.streams.set(JSON.stringify(message.id), response);
    child.send(message);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const close = () => {
    [...sessions.values(), stateless].forEach((child) => child?.close());
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, close };
}
