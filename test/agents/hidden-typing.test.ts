import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { pawlCommand } from "../end-to-end/support/pawl.ts";
import type { ModelReply, ModelRequest } from "../fakes/model-server/model-reply.ts";
import { serveAgents } from "./serve-agents.ts";

const SECRET = "Zebra-4711-quux";
const PIN = "9310";
const ASK = "read -s -p 'Password: ' PW; read -s PIN; echo; echo -n \"$PW$PIN\" | wc -c | sed 's/^/got /'\n";

/** A model that logs in: it types a password, then what is asked for without a word, and looks at what comes of it. */
function logIn({ shown }: ModelRequest): ModelReply {
  const results = shown.messages.flatMap((message) => message.results);
  const session_id = /session_[0-9a-f]+/.exec(results[0]?.text ?? "")?.[0] ?? "";
  const call = (name: string, input: JsonObject): ModelReply => ({ do: "say", calls: [{ name, input }] });
  const say = (text: string, input: JsonObject): ModelReply => ({
    ...{ do: "say", text, calls: [{ name: "send_input", input: { session_id, ...input } }] },
  });
  switch (results.length) {
    case 0:
      return call("open_terminal", { shell: "bash --norc" });
    case 1:
      return call("send_input", { session_id, input_text: ASK });
    case 2:
      return call("await_output", { session_id, pattern: "Password: $" });
    case 3:
      return say(`I type ${SECRET} now.`, { input_text: SECRET, keys: ["Enter"] });
    case 4:
      return say("And the PIN.", { input_text: `${PIN}\\n`, keys: [] });
    case 5:
      return call("await_output", { session_id, pattern: "got \\d+" });
    default:
      return { do: "say", text: /got 19/.test(results.at(-1)?.text ?? "") ? "I am in." : "It has not worked." };
  }
}

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));
}

test("what an agent types at a hidden prompt is typed, and is in no record of it", async () => {
  const { command, env } = pawlCommand(["mcp", "terminal"]);
  const [program = "", ...args] = command;
  const files = {
    "agents.json": JSON.stringify({
      clients: [{ client_id: "term", command: program, args, env }],
      agents: [{ name: "Operator", model: "fake:m", system_prompt: "You log in.", client_ids: ["term"] }],
      workflows: [{ name: "Enter", steps: ["Operator"] }],
    }),
  };
  const served = await serveAgents({ files, replies: logIn });
  onTestFinished(() => served.close());
  const answer = await served.post("/workflows/Enter/execute", { initial_user_message: "Log in, please." });
  const told = JSON.stringify(answer.body);
  expect(told).toContain("I am in.");
  expect(told).not.toContain(SECRET);
  expect(told).not.toContain(`"${PIN}`);
  expect(filesWith(served.folder, "I type [redacted] now.")).not.toEqual([]);
  expect(filesWith(served.folder, SECRET)).toEqual([]);
  expect(filesWith(served.folder, `"${PIN}`)).toEqual([]);
}, 60_000);
