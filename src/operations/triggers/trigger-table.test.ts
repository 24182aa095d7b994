import { expect, test } from "vitest";
import { http, literal, respond, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import type { Trigger } from "../../core/graph/graph.ts";
import type { RegisteredDefinition } from "../definitions/registry.ts";
import { buildTriggerTable, type TableOptions, targetsIn } from "./trigger-table.ts";

const APP = "/app";

function definition(file: string, trigger: Trigger, name = file): RegisteredDefinition {
  const graph = uhlpGraph({ name, trigger, steps: [respond(literal(1))] });
  return { name, file: `${APP}/workflows/${file}`, report: { definition: { text: "", graph }, problems: [] } };
}

function build(definitions: readonly RegisteredDefinition[], options: TableOptions = {}) {
  return buildTriggerTable(targetsIn(definitions, APP), options);
}

function at(method: string, pathPattern: string, line: number): Trigger {
  return { kind: "http", method, pathPattern, place: { line, column: 3 } };
}

test("two workflows for the same requests: the first by file stays, and the problem names both places", () => {
  const { routes, problems } = build([
    definition("a.yaml", at("GET", "/x/{a}", 4)),
    definition("b.yaml", at("GET", "/x/{b}/", 7)),
  ]);
  expect(routes.list().map(({ target }) => target.file)).toEqual(["/app/workflows/a.yaml"]);
  expect(problems).toMatchObject([
    {
      code: "ROUTE_AMBIGUOUS",
      message:
        "workflows/b.yaml:7:3: GET /x/{b}/ is answered by the workflow at workflows/a.yaml:4:3 already (as /x/{a}).",
    },
  ]);
});

test("a route that is served already goes before one that comes later, whatever their files are called", () => {
  const served = definition("b.yaml", at("GET", "/x", 1));
  const before = build([served]);
  const { routes, problems } = build([definition("a.yaml", at("GET", "/x", 1)), served], { before });
  expect(routes.list().map(({ target }) => target.file)).toEqual(["/app/workflows/b.yaml"]);
  expect(problems).toMatchObject([{ code: "ROUTE_AMBIGUOUS", message: expect.stringContaining("workflows/a.yaml") }]);
});

test("paths of the service and paths that are none are problems at their place", () => {
  const { routes, problems } = build([
    definition("a.yaml", at("POST", "/execute", 2)),
    definition("b.yaml", at("POST", "/a/{x}.json", 3)),
  ]);
  expect(routes.list()).toEqual([]);
  expect(problems).toMatchObject([
    { code: "ROUTE_RESERVED", message: 'workflows/a.yaml:2:3: "/execute" is a path of the service itself.' },
    { code: "ROUTE_INVALID", message: expect.stringContaining("workflows/b.yaml:3:3: ") },
  ]);
});

test("of two workflows with one name only the first is triggered", () => {
  const { routes, problems } = build([
    definition("a.yaml", http("GET", "/a"), "same"),
    definition("b.yaml", http("GET", "/b"), "same"),
  ]);
  expect(routes.list()).toHaveLength(1);
  expect(problems).toMatchObject([{ code: "NAME_TAKEN_TWICE" }]);
});
