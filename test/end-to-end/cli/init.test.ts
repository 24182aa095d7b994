import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples/terminal/", import.meta.url));

test("`pawl init terminal` lays out examples that run", async () => {
  const cwd = application({});
  const laidOut = await pawl(["init", "terminal", "mine"], { cwd });
  expect(laidOut).toMatchObject({ code: 0, stderr: expect.stringContaining("pawl run hello.json -i who=Ada") });
  const mine = join(cwd, "mine");
  expect(laidOut.stdout.trim().split("\n").sort()).toEqual(filesIn(mine));
  const ignored = readFileSync(join(EXAMPLES, ".gitignore"), "utf8").split("\n");
  const left = [".gitignore", ".pawl/", ...ignored].filter((name) => name !== "");
  expect(filesIn(mine).filter((file) => !file.startsWith("schemas/"))).toEqual(
    filesIn(EXAMPLES).filter((file) => !left.some((name) => file.startsWith(name))),
  );

  expect(await pawl(["run", "hello.json", "-i", "who=Ada"], { cwd: mine })).toMatchObject({ code: 0 });
  const { stdout } = await pawl(["workflows", "ls", "--json"], { cwd: mine });
  expect(JSON.parse(stdout).data.items).toHaveLength(5);
});

test("`pawl init terminal` leaves alone what is there, and says what it would have needed", async () => {
  const own = '{ "mcpServers": {} }';
  const cwd = application({ ".mcp.json": own });
  const first = await pawl(["init", "terminal", "--json"], { cwd });
  expect(JSON.parse(first.stdout).data).toMatchObject({ already_there: [], left_alone: [".mcp.json"] });
  writeFileSync(join(cwd, "hello.json"), "mine");
  const second = await pawl(["init", "terminal"], { cwd });
  expect(second).toMatchObject({ code: 0, stdout: "" });
  expect(second.stderr).toContain("hello.json is there already and says something else: it is left alone.");
  expect(second.stderr).toContain('"command": "pawl", "args": ["mcp", "terminal"]');
  expect(readFileSync(join(cwd, "hello.json"), "utf8")).toBe("mine");
  expect(readFileSync(join(cwd, ".mcp.json"), "utf8")).toBe(own);
});

test("a place that is no folder is said to be none", async () => {
  const cwd = application({ "file.txt": "" });
  expect(await pawl(["init", "terminal", "file.txt"], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("FOLDER_UNWRITABLE"),
  });
});

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.replace(/\/$/, "").length + 1))
    .sort();
}

test("`pawl init DOCUMENT` gives operations of an API that a workflow calls, typed and durable", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(
        [request.method, request.url, request.headers.authorization, request.headers["x-trace"], body].join(" "),
      );
      response.writeHead(request.url?.endsWith("/none") ? 404 : 200, { "content-type": "application/json" });
      response.end('{"id": 12345678901234567890}');
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const cwd = application({
    "apis/petstore.yaml": PETSTORE,
    "workflows/use.yaml": USE,
    "pawl.yaml": "outbound: { allow: [127.0.0.1] }\n",
    ".env": "PETSTORE_TOKEN=s3cret-token-abc\n",
  });
  const { port } = server.address() as AddressInfo;
  const laidOut = await pawl(["init", "apis/petstore.yaml", "--server", `http://127.0.0.1:${port}/v1`], { cwd });
  expect(laidOut).toMatchObject({ code: 0, stdout: "listPets.yaml\nmakePet.yaml\ngetPet.yaml\n" });
  expect(laidOut.stderr).toContain("Left out: post_photos: its body cannot be sent by an `http` step.");
  expect(laidOut.stderr).toContain("They read PETSTORE_TOKEN of the environment or of .env.");
  expect(laidOut.stderr).toContain("pawl validate workflows/*.yaml");

  const use = (kind: string, id: string) =>
    pawl(["run", "workflows/use.yaml", "-i", `kind=${kind}`, "-i", `id=${id}`], { cwd });
  const done = await use("cat", "a/b");
  expect(done.code).toBe(0);
  expect(done.stdout).toContain("12345678901234567890");
  expect(asked).toEqual([
    'POST /v1/pets Bearer s3cret-token-abc t-1 {"name":"Rex","kind":"cat"}',
    "GET /v1/pets?limit=3&filter%5Btag%5D=a&filter%5Btag%5D=b+c&ids=1%2C2 Bearer s3cret-token-abc  ",
    "GET /v1/pets/a%2Fb Bearer s3cret-token-abc  ",
  ]);
  const untyped = await use("cow", "x");
  expect(untyped).toMatchObject({ code: 1, stderr: expect.stringContaining("INPUT_INVALID") });
  expect(untyped.stderr).toContain("input/body/kind must be equal to one of the allowed values");
  expect(asked).toHaveLength(3);
  expect(await use("cat", "none")).toMatchObject({ code: 1, stderr: expect.stringContaining("HTTP_FAILED") });
});

const USE = `workflowId: use
startAt: make
steps:
  make:
    type: control
    subtype: subworkflow
    workflowId: petstore.makePet
    inputMapping: { X-Trace: "'t-1'", body: "{name: 'Rex', kind: trigger.payload.kind}" }
    transitions: { onSuccess: all }
  all:
    type: control
    subtype: subworkflow
    workflowId: petstore.listPets
    inputMapping: { limit: 3, ids: "[1, 2]", "filter[tag]": "['a', 'b c']" }
    transitions: { onSuccess: get }
  get: { type: control, subtype: subworkflow, workflowId: petstore.getPet, inputMapping: { petId: trigger.payload.id }, end: true }
`;

const PETSTORE = `openapi: 3.1.0
info: { title: Pets, version: "1" }
security: [{ token: [] }]
paths:
  /pets:
    parameters: [{ $ref: "#/components/parameters/trace" }]
    get:
      operationId: listPets
      parameters:
        - { name: limit, in: query, schema: { type: integer, maximum: 100 } }
        - { name: "filter[tag]", in: query, schema: { type: array, items: { type: string } } }
        - { name: ids, in: query, explode: false, schema: { type: array, items: { type: integer } } }
    post:
      operationId: makePet
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }
  /pets/{petId}:
    get:
      operationId: getPet
      parameters: [{ name: petId, in: path, required: true, schema: { type: string } }]
  /photos:
    post: { requestBody: { required: true, content: { multipart/form-data: { schema: { type: object } } } } }
components:
  parameters: { trace: { name: X-Trace, in: header, schema: { type: string } } }
  schemas:
    Pet:
      type: object
      required: [name]
      properties: { name: { type: string }, kind: { enum: [cat, dog] }, parent: { $ref: "#/components/schemas/Pet" } }
  securitySchemes: { token: { type: http, scheme: bearer } }
`;
