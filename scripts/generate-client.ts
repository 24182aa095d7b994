// Writes the types of the HTTP API into src/client/api.ts, from the document that `GET /openapi.json` answers with. `--check`
// only says whether they are up to date.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { describeService } from "../src/surfaces/http/service/describe-service.ts";
import { ENDPOINTS } from "../src/surfaces/http/service/endpoints.ts";

const file = new URL("../src/client/api.ts", import.meta.url);
const HEAD = `// Made by \`npm run generate:client\` from the schemas of the HTTP API. Not to be edited.
import type { Json, JsonObject } from "../core/json.ts";

`;

const ast = await openapiTS(JSON.stringify(describeService(ENDPOINTS, "0")), {
  // What the document can only call anything is JSON.
  transform: (schema) => {
    if (Object.keys(schema).every((name) => name === "description")) return ts.factory.createTypeReferenceNode("Json");
    const isAnyObject = "additionalProperties" in schema && isEmpty(schema.additionalProperties);
    return isAnyObject && !("properties" in schema) ? ts.factory.createTypeReferenceNode("JsonObject") : undefined;
  },
});
const text = HEAD + astToString(ast);
if (!process.argv.includes("--check")) await writeFile(file, text);
else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
  console.error("src/client/api.ts is not up to date: run `npm run generate:client`.");
  process.exitCode = 1;
}

function isEmpty(schema: unknown): boolean {
  return typeof schema === "object" && schema !== null && Object.keys(schema).length === 0;
}
