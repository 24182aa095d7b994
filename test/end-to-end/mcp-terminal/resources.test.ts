import { expect, test } from "vitest";
import { application } from "../support/application.ts";
import { connectTerminal, ERAS } from "./terminal-client.ts";

const STATES = { a: { action: { tool: "open_terminal", params: { shell: "bash --norc" } } } };
const DEFINITION = { name: "one_state", description: "Opens a shell", initial_state: "a", states: STATES };

for (const [era, negotiation] of ERAS) {
  test(`a client of ${era} reads saved workflows, runs and screens`, async () => {
    const { client, call } = await connectTerminal(application({}), { negotiation });
    const ran = await call("run_workflow", { workflow_definition: DEFINITION });
    const [run, session] = [String(ran["run_id"]), String(ran["session_id"])];
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "workflow://one_state",
      `terminal://${session}/screen`,
      `run://${run}`,
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "workflow://{name}",
      "run://{run_id}",
      "terminal://{session_id}/screen",
      "terminal://{session_id}/output",
    ]);
    expect(JSON.parse(await read("workflow://one_state"))).toEqual(DEFINITION);
    expect(JSON.parse(await read(`run://${run}`))).toMatchObject({ run_id: run, status: "completed" });
    await call("send_input", { session_id: session, input_text: "printf on; echo -2\n" });
    await call("await_output", { session_id: session, pattern: "on-2" });
    expect(await read(`terminal://${session}/screen`)).toContain("on-2");
    for (const uri of [
      "workflow://../x",
      "workflow://nothing",
      "run://nothing",
      "terminal://nothing/screen",
      "x://y",
    ]) {
      await expect(client.readResource({ uri })).rejects.toThrow();
    }

    async function read(uri: string): Promise<string> {
      const { contents } = await client.readResource({ uri });
      const [content] = contents;
      return content !== undefined && "text" in content ? content.text : "";
    }
  });
}

test("names and ids are completed", async () => {
  const { client, call } = await connectTerminal(application({}));
  const { run_id, session_id } = await call("run_workflow", { workflow_definition: DEFINITION });
  const complete = async (uri: string, name: string, value: string) =>
    (await client.complete({ ref: { type: "ref/resource", uri }, argument: { name, value } })).completion.values;
  expect(await complete("workflow://{name}", "name", "one")).toEqual(["one_state"]);
  expect(await complete("workflow://{name}", "name", "two")).toEqual([]);
  expect(await complete("run://{run_id}", "run_id", "")).toEqual([run_id]);
  expect(await complete("terminal://{session_id}/screen", "session_id", "session_")).toEqual([session_id]);
});

test("prompts teach how to write a workflow, and show what a failed run did", async () => {
  const { client, call } = await connectTerminal(application({}));
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["author_workflow", "debug_run"]);
  await call("run_workflow", { workflow_definition: DEFINITION });
  const author = await client.getPrompt({ name: "author_workflow", arguments: { goal: "Run the tests" } });
  expect(JSON.stringify(author)).toContain("Run the tests");
  expect(JSON.stringify(author)).toContain("- one_state: Opens a shell");
  await expect(client.getPrompt({ name: "author_workflow" })).rejects.toThrow("goal");
  await expect(client.getPrompt({ name: "debug_run" })).rejects.toThrow("No run has failed");
  const never = { ...STATES.a, transitions: [{ condition: { success: false }, next_state: "a" }] };
  await call("run_workflow", { workflow_definition: { ...DEFINITION, name: "stuck", states: { a: never } } });
  const debug = await client.getPrompt({ name: "debug_run" });
  expect(JSON.stringify(debug)).toContain('workflow \\"stuck\\"');
  expect(JSON.stringify(debug)).toContain("NO_TRANSITION");
});
