import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { compileFile } from "../../../test/support/fixtures.ts";
import { describeService } from "../../surfaces/http/service/describe-service.ts";
import { loadEndpoints } from "../../surfaces/http/service/endpoints.ts";
import { type ApiWanted, layOutApi } from "./lay-out-api.ts";

const GET = { get: { operationId: "getPet" } };

async function layOut(document: object | string, wanted: ApiWanted = {}) {
  const folder = mkdtempSync(join(tmpdir(), "pawl-api-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "shop.json"), typeof document === "string" ? document : JSON.stringify(document));
  const laidOut = await layOutApi(join(folder, "shop.json"), join(folder, "made"), wanted);
  const files = new Map<string, Record<string, never>>();
  for (const name of readdirSync(join(folder, "made"))) {
    const path = join(folder, "made", name);
    expect((await compileFile(path)).rendered).toBe("");
    files.set(name, parse(readFileSync(path, "utf8")));
  }
  return { ...laidOut, files, callOf: (name: string) => JSON.stringify(files.get(`${name}.yaml`)?.["steps"]) };
}

const api = (paths: object, more: object = {}) => ({
  openapi: "3.1.0",
  servers: [{ url: "https://api.example.com/v1" }],
  paths,
  ...more,
});

describe("an OpenAPI document", () => {
  test("of Pawl itself gives workflows without a problem", async () => {
    const document = describeService(await loadEndpoints(), "1.0.0");
    const { files, left_out, variables } = await layOut(document, { server: "http://127.0.0.1:7373" });
    expect(files.size).toBeGreaterThan(80);
    expect(left_out).toEqual(["writeStoredFile: its body cannot be sent by an `http` step"]);
    expect(variables).toEqual(["SHOP_KEY"]);
  });

  test("of 3.0 has its references, bounds and what only answers have made into JSON Schema", async () => {
    const pet = {
      type: "object",
      required: ["id", "name"],
      properties: {
        id: { type: "integer", readOnly: true },
        name: { type: "string", nullable: true },
        age: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 99, exclusiveMaximum: false },
        parent: { $ref: "#/components/schemas/Pet" },
      },
    };
    const body = { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } } };
    const { files } = await layOut({
      ...api(
        { "/pets": { post: { operationId: "make", requestBody: body } } },
        { components: { schemas: { Pet: pet } } },
      ),
      openapi: "3.0.3",
    });
    expect(files.get("make.yaml")?.["inputSchema"]).toEqual({
      type: "object",
      properties: { body: { $ref: "#/$defs/Pet" } },
      required: ["body"],
      additionalProperties: false,
      $defs: {
        Pet: {
          type: "object",
          required: ["name"],
          properties: {
            id: { type: "integer", readOnly: true },
            name: { type: "string", nullable: true },
            age: { type: "number", exclusiveMinimum: 0, maximum: 99 },
            parent: { $ref: "#/$defs/Pet" },
          },
        },
      },
    });
  });

  test("has lists, objects and names that no path could have as a server wants them", async () => {
    const filter = { type: "object", properties: { name: { type: "string" }, "a.b": {} } };
    const parameters = [
      { name: "ids", in: "query", explode: false, schema: { type: "array" } },
      { name: "filter", in: "query", style: "deepObject", schema: { $ref: "#/components/schemas/Filter" } },
      { name: "$top", in: "query", schema: { oneOf: [{ type: "integer" }], nullable: true } },
      { name: "where\u001b[2J", in: "query", schema: { type: "object" } },
    ];
    const { files, callOf, left_out } = await layOut(
      api({ "/a": { get: { operationId: "a", parameters } } }, { components: { schemas: { Filter: filter } } }),
    );
    expect(JSON.parse(callOf("a")).call.query).toEqual({
      ids: "trigger.payload.ids == null ? null : join(trigger.payload.ids, ',')",
      "filter[name]": "trigger.payload.filter.name",
      "filter[a.b]": "trigger.payload.filter['a.b']",
      $top: "trigger.payload['$top']",
    });
    expect(files.get("a.yaml")?.["inputSchema"]).toMatchObject({
      properties: { $top: { anyOf: [{ oneOf: [{ type: "integer" }] }, { type: "null" }] } },
    });
    expect(left_out).toEqual(["a: its parameter `where\ufffd[2J` (`query`) cannot be sent by an `http` step"]);
  });

  test("says who asks: a token, a password, a key, a client; nothing of it stands in a file", async () => {
    const flows = { clientCredentials: { tokenUrl: "https://login.example.com/token", scopes: {} } };
    const { callOf, variables } = await layOut(
      api(
        {
          "/a": { get: { operationId: "a" } },
          "/b": { get: { operationId: "b", security: [{ basic: [] }] } },
          "/c": { get: { operationId: "c", security: [{ key: [] }] } },
          "/d": { get: { operationId: "d", security: [{ client: ["pets:read", "pets:write"] }] } },
          "/e": { get: { operationId: "e", security: [] } },
        },
        {
          security: [{ token: [] }],
          components: {
            securitySchemes: {
              token: { type: "http", scheme: "Bearer" },
              basic: { type: "http", scheme: "basic" },
              key: { type: "apiKey", in: "query", name: "api_key" },
              client: { type: "oauth2", flows },
            },
          },
        },
      ),
    );
    expect(callOf("a")).toContain(`"auth":{"bearer":"\${SHOP_TOKEN}"}`);
    expect(callOf("b")).toContain(`"auth":{"basic":{"username":"\${SHOP_USER}","password":"\${SHOP_PASSWORD}"}}`);
    expect(callOf("c")).toContain(`"query":{"api_key":"\${SHOP_KEY}"}`);
    expect(callOf("d")).toContain(`"clientSecret":"\${SHOP_CLIENT_SECRET}","scope":"'pets:read pets:write'"`);
    expect(callOf("e")).not.toContain("auth");
    expect(variables).toHaveLength(6);
  });

  test("is laid out in part by ids, or by method and path; with a server of one's own", async () => {
    const document = api({ "/pets": { ...GET, post: {} }, "/toys": { delete: {} } });
    const { files, callOf } = await layOut(document, {
      only: ["getPet", "DELETE /toys"],
      server: "http://127.0.0.1:1/v2/",
    });
    expect([...files.keys()].sort()).toEqual(["delete_toys.yaml", "getPet.yaml"]);
    expect(callOf("getPet")).toContain('"url":"http://127.0.0.1:1/v2/pets"');
    await expect(layOut(document, { only: ["getPets"] })).rejects.toMatchObject({
      code: "USAGE",
      remedy: "Did you mean `getPet`?",
    });
  });

  test("is read as data: no text of it is a path, an expression or a variable", async () => {
    const parameters = (name: string) => [{ name, in: "path", required: true, schema: { type: "string" } }];
    const scopes = [`\${AWS_SECRET}`, "ok"];
    const flows = { clientCredentials: { tokenUrl: `https://x.example/\${HOME}`, scopes: {} } };
    const { left_out, variables, files, callOf } = await layOut(
      api(
        {
          "/a": {
            get: { operationId: "../../etc/passwd", summary: `x\nsteps: {}\n\${HOME}`, security: [{ client: scopes }] },
          },
          [`/b/\${HOME}`]: { get: { operationId: "b" } },
          "/c/{x}": { get: { operationId: "c" } },
          "/d/{x}']}": { get: { operationId: "d", parameters: parameters("x']}") } },
          "/e": { get: { operationId: "e", servers: [{ url: `https://\${HOME}.example` }] } },
          "/f": { get: { operationId: "f", servers: [{ url: "file:///etc/passwd" }] } },
          "/g": {
            post: {
              operationId: "g",
              requestBody: { content: { [`application/json; a='\${HOME}'`]: { schema: {} } } },
            },
          },
          "/h": { get: { operationId: "__proto__", parameters: [{ name: "__proto__", in: "query", schema: {} }] } },
          "/i": { get: { operationId: "i", parameters: [{ name: "a", in: "query", schema: { $ref: "http://x/y" } }] } },
          "/j": { get: { operationId: "j", parameters: [{ $ref: "#/paths/~1j/get/parameters/0" }] } },
        },
        { components: { securitySchemes: { client: { type: "oauth2", flows } } } },
      ),
    );
    expect([...files.keys()].sort()).toEqual(["etc_passwd.yaml", "g.yaml", "j.yaml", "proto.yaml"]);
    expect(variables).toEqual(["SHOP_TOKEN"]);
    expect(callOf("etc_passwd")).not.toMatch(/HOME|AWS/);
    expect(callOf("proto")).toContain("trigger.payload.__proto__");
    expect(left_out.map((each) => each.split(":")[0])).toEqual(["b", "c", "d", "e", "f", "g", "i", "j"]);
  });

  test.each([
    ["it is of Swagger 2", { swagger: "2.0", paths: { "/a": GET } }],
    ["it has no `openapi: 3...`", { openapi: "4.0.0" }],
    ["it is no map", []],
    ["it has no operations", api({})],
    ["`--server URL`", { ...api({ "/a": GET }), servers: [{ url: "/v1" }] }],
    ["Excessive alias count", `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${"*a,".repeat(50)}]\nc: [${"*b,".repeat(50)}]`],
    ["at line 1, column", "{ openapi: 3.1.0, paths: [ }"],
    ["larger than 16 MB", `openapi: 3.1.0\n#${"x".repeat(17 * 1024 * 1024)}`],
  ])("is refused where nothing can be made of it: %s", async (why, document) => {
    const failure = layOut(document);
    await expect(failure).rejects.toMatchObject({ code: "DEFINITION_INVALID" });
    await expect(failure).rejects.toThrow(why);
  });

  test("has a bound: depth of its schemas, length of a file, number of operations", async () => {
    const deep = Array.from({ length: 500 }).reduce<object>((schema) => ({ items: schema }), {});
    const wide = { enum: Array.from({ length: 100_000 }, (_, index) => `value ${index}`) };
    const asking = (schema: object) => ({ get: { parameters: [{ name: "a", in: "query", schema }] } });
    const { left_out } = await layOut(api({ "/deep": asking(deep), "/wide": asking(wide), "/a": GET }));
    expect(left_out).toEqual([
      "get_deep: its schemas nest too deeply",
      "get_wide: its schemas are too large for a workflow",
    ]);
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`/${index}`, { get: {} }]));
    await expect(layOut(api(many))).rejects.toMatchObject({ code: "USAGE" });
  });
});
