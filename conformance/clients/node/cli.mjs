// For clients that are a command line: one process for each call.

import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const command = JSON.parse(process.env.SERVER_COMMAND);
export const name = process.env.CLIENT_NAME;

export const run = { workflow: "triage", request_id: `${name}-saved`, inputs: { note: "x" }, wait_seconds: 60 };

/** A command as one line for a shell. */
export const shell = (words) => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");

/** The command as one program, for clients that take words of it for their own. */
export function program() {
  const path = join(mkdtempSync(join(tmpdir(), "server-")), "server.sh");
  writeFileSync(path, `#!/bin/sh\nexec ${shell(command)}\n`, { mode: 0o755 });
  return path;
}

/** What a program prints on stdout, and how it ended. */
export function ran(script, words) {
  const child = spawnSync(process.execPath, [script, ...words], { encoding: "utf8", timeout: 60_000, maxBuffer: 1 << 26 });
  console.error(`$ ${script} ${words.slice(-6).join(" ")}\n${child.stdout}\n${child.stderr}`);
  return { status: child.status, text: child.stdout };
}

/** The first JSON object or list of a text. */
export function json(text) {
  const start = text.search(/[[{]/);
  return JSON.parse(text.slice(start));
}

export const tell = (seen) => console.log(JSON.stringify(seen));
