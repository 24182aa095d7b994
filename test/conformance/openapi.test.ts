import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Json } from "../../src/core/json.ts";
import { application } from "../end-to-end/support/application.ts";
import { pawl } from "../end-to-end/support/pawl.ts";
import { answerWith, WebhookReceiver } from "../fakes/webhook-receiver.ts";

const SERVER = fileURLToPath(new URL("node_modules/@ivotoby/openapi-mcp-server/bin/mcp-server.js", import.meta.url));
const TOKEN = "hunter-2-hunter";
const JSON_ANSWER = { "content-type": "application/json" };

const DOCUMENT = `
openapi: 3.1.0
info: {title: Pets, version: "1"}
paths:
  /pets:
    get:
      operationId: listPets
      parameters:
        - {name: status, in: query, required: true, schema: {$ref: "#/components/schemas/Status"}}
        - {name: X-Trace, in: header, schema: {type: string}}
      responses: {"200": {description: Pets.}}
    post:
      operationId: addPet
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/NewPet"}}}}
      responses: {"201": {description: The pet.}}
  /pets/{petId}:
    get:
      operationId: getPetById
      parameters: [{name: petId, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: The pet.}, "404": {description: None.}}
components:
  schemas:
    Status: {type: string, enum: [available, sold]}
    NewPet: {type: object, required: [name], properties: {name: {type: string}, status: {$ref: "#/components/schemas/Status"}}}
`;

const step = (tool: string, mapping: string, next: string, more = "") =>
  `    type: mcp\n    target: { tool: pets.${tool} }\n    inputMapping: ${mapping}\n    transitions: ${next}\n${more}`;

const WORKFLOW = `
workflowId: pets
startAt: list
steps:
  list:
${step("lst-pets", "{ status: trigger.payload.status, X-Trace: \"'a b'\" }", "{ onSuccess: add }")}
  add:
${step("add-pet", "{ name: 'steps.list.output[0].name', status: \"'sold'\" }", "{ onSuccess: get }")}
  get:
${step("get-pet-by-id", "{ petId: steps.add.output.id }", "{ end: true }", "    retryPolicy: { maxAttempts: 3, initialDelay: 0.01, condition: \"matches(error.message, 'status code (429|5..)')\" }")}
`;

/** The configuration as the documentation has it, with the program and the address of this test. */
function configure(url: string): string {
  const docs = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");
  const [, block = ""] = /## An OpenAPI document as tools\n[\s\S]*?```yaml\n(mcp:[\s\S]*?)```/.exec(docs) ?? [];
  return block
    .replace("command: npx", `command: ${JSON.stringify(process.execPath)}`)
    .replace(/"-y", "@ivotoby\/openapi-mcp-server@[\d.]+"/, JSON.stringify(SERVER))
    .replace("https://pets.example.com/v1", url);
}

function petsOf(api: WebhookReceiver, workflow: string): string {
  return application({ "pawl.yaml": configure(api.url("/v1")), "petstore.yaml": DOCUMENT, "pets.yaml": workflow });
}

async function run(api: WebhookReceiver, status: string) {
  const cwd = petsOf(api, WORKFLOW);
  const { code, stdout } = await pawl(["run", "pets.yaml", "-i", `status=${status}`, "--json"], {
    cwd,
    env: { PETS_TOKEN: TOKEN },
  });
  const stored = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const leaks = stored.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(TOKEN));
  return { code, stdout, stored: stored.length, leaks };
}

test("a workflow calls the operations of an OpenAPI document as tools", async () => {
  const api = await WebhookReceiver.listen();
  const reply = (status: number, body: Json) => api.replies.push(answerWith(status, JSON_ANSWER, JSON.stringify(body)));
  reply(200, [{ name: "Rex" }]);
  reply(201, { id: "a/7" });
  api.replies.push((answer, { headers }) =>
    answer.writeHead(200, JSON_ANSWER).end(JSON.stringify({ id: "a/7", seen: headers.authorization })),
  );
  const { code, stdout, stored, leaks } = await run(api, "available");
  expect({ code, stdout, leaks }).toEqual({ code: 0, stdout: expect.stringContaining("Bearer [redacted]"), leaks: [] });
  expect(stored).toBeGreaterThan(3);
  expect(api.received).toMatchObject([
    {
      method: "GET",
      path: "/v1/pets?status=available",
      headers: { "x-trace": "a b", authorization: `Bearer ${TOKEN}` },
    },
    { method: "POST", path: "/v1/pets", body: '{"name":"Rex","status":"sold"}' },
    { method: "GET", path: "/v1/pets/a%2F7" },
  ]);
  expect(stdout).not.toContain(TOKEN);
});

test("an answer of another status fails its step, and is tried again where the step says so", async () => {
  const api = await WebhookReceiver.listen();
  const reply = (status: number, body: Json) => api.replies.push(answerWith(status, JSON_ANSWER, JSON.stringify(body)));
  reply(200, [{ name: "Rex" }]);
  reply(201, { id: "a/7" });
  reply(503, {});
  reply(404, { error: "no such pet" });
  const { code, stdout } = await run(api, "available");
  expect({ code, stdout }).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/MCP_TOOL_FAILED.*status code 404/),
  });
  expect(api.received).toHaveLength(4);
});

test("an argument that the document does not allow is refused before anything is sent", async () => {
  const api = await WebhookReceiver.listen();
  const { code, stdout } = await run(api, "eaten");
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining("MCP_ARGUMENTS_INVALID") });
  expect(api.received).toEqual([]);
});

test("an operation that the document does not have is refused where it is named, before any run", async () => {
  const cwd = petsOf(await WebhookReceiver.listen(), WORKFLOW.replace("pets.lst-pets", "pets.list-pets"));
  const { code, stdout, stderr } = await pawl(["validate", "pets.yaml"], { cwd, env: { PETS_TOKEN: TOKEN } });
  expect(code).not.toBe(0);
  expect(stdout + stderr).toMatch(/pets\.yaml:5:3 error MCP_TOOL_UNKNOWN .*Did you mean `lst-pets`\?/);
});
