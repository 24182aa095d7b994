import { describe, expect, test } from "vitest";
import { parsePathPattern } from "../../core/graph/path-pattern.ts";
import { RouteTable } from "./route-table.ts";
import { isReserved } from "./trigger-table.ts";

function pattern(written: string) {
  const parsed = parsePathPattern(written);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed;
}

function tableOf(...routes: readonly string[]): RouteTable<string> {
  const table = new RouteTable<string>();
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    table.add({ method, pattern: pattern(path), target: route });
  }
  return table;
}

function found(table: RouteTable<string>, method: string, path: string): unknown {
  const match = table.match(method, path);
  if (match.is === "route") return [match.route.target, match.parameters];
  return match.is === "other methods" ? match.methods : match.is;
}

describe("which route answers", () => {
  const table = tableOf(
    "GET /api/tasks",
    "POST /api/tasks",
    "GET /api/tasks/{taskId}",
    "GET /api/tasks/new",
    "PUT /api/tasks/{taskId}/status",
    "GET /api/{kind}/new",
    "GET /caf%C3%A9",
  );

  const matches: readonly (readonly [string, string, unknown])[] = [
    ["GET", "/api/tasks", ["GET /api/tasks", {}]],
    ["GET", "/api/tasks/", ["GET /api/tasks", {}]],
    ["HEAD", "/api/tasks", ["GET /api/tasks", {}]],
    ["GET", "/api/tasks/7", ["GET /api/tasks/{taskId}", { taskId: "7" }]],
    ["GET", "/api/tasks/new", ["GET /api/tasks/new", {}]],
    ["GET", "/api/users/new", ["GET /api/{kind}/new", { kind: "users" }]],
    ["GET", "/api/tasks/a%2Fb%20c", ["GET /api/tasks/{taskId}", { taskId: "a/b c" }]],
    ["GET", "/api/tasks/..%2f..%2fetc", ["GET /api/tasks/{taskId}", { taskId: "../../etc" }]],
    ["GET", "/api/tasks/__proto__", ["GET /api/tasks/{taskId}", { taskId: "__proto__" }]],
    ["GET", "/caf%C3%A9", ["GET /caf%C3%A9", {}]],
    ["PUT", "/api/tasks/7/status", ["PUT /api/tasks/{taskId}/status", { taskId: "7" }]],
    ["PUT", "/api/tasks//status", "nothing"],
    ["GET", "/api/tasks//", "nothing"],
    ["GET", "/API/tasks", "nothing"],
    ["GET", "/api/tasks/%E0%A4%A", "malformed"],
    ["GET", "/", "nothing"],
    ["DELETE", "/api/tasks", ["GET", "HEAD", "OPTIONS", "POST"]],
    ["OPTIONS", "/api/tasks/7/status", ["OPTIONS", "PUT"]],
  ];
  test.each(matches)("%s %s", (method, path, expected) => {
    expect(found(table, method, path)).toEqual(expected);
  });

  test("the rest of a path is at least one segment, and what is more specific goes first", () => {
    const files = tableOf("GET /files/{path*}", "GET /files/{name}", "GET /files/{name}/meta", "POST /{all*}");
    expect(found(files, "GET", "/files/a%20b/c/d")).toEqual(["GET /files/{path*}", { path: "a b/c/d" }]);
    expect(found(files, "GET", "/files/a")).toEqual(["GET /files/{name}", { name: "a" }]);
    expect(found(files, "GET", "/files/a/meta")).toEqual(["GET /files/{name}/meta", { name: "a" }]);
    expect(found(files, "GET", "/files")).toEqual(["OPTIONS", "POST"]);
    expect(found(files, "POST", "/files/a/b")).toEqual(["POST /{all*}", { all: "files/a/b" }]);
    expect(found(files, "GET", "/files//b")).toEqual(["OPTIONS", "POST"]);
  });

  test("a literal further left goes before one further right", () => {
    expect(found(tableOf("GET /a/{x}/c", "GET /a/b/{y}"), "GET", "/a/b/c")).toEqual(["GET /a/b/{y}", { y: "c" }]);
  });

  test("a more specific path with other methods hides no route that has the method", () => {
    expect(found(tableOf("POST /a/b", "GET /a/{x}"), "GET", "/a/b")).toEqual(["GET /a/{x}", { x: "b" }]);
  });

  test("two patterns that differ in the names of parameters only are the same route", () => {
    const table = tableOf("GET /a/{x}");
    const known = table.add({ method: "GET", pattern: pattern("/a/{other}/"), target: "second" });
    expect(known?.target).toBe("GET /a/{x}");
    expect(table.add({ method: "PUT", pattern: pattern("/a/{other}"), target: "third" })).toBeUndefined();
  });

  test("a path that four thousand patterns nearly fit is found nowhere", () => {
    const table = new RouteTable<string>();
    const written = Array.from({ length: 12 }, () => ["a", "{p}"]);
    for (let bits = 0; bits < 4096; bits += 1) {
      const parts = written.map(([literal = ""], index) => ((bits >> index) & 1 ? literal : `{p${index}}`));
      table.add({ method: "GET", pattern: pattern(`/${parts.join("/")}/end`), target: "x" });
    }
    expect(found(table, "GET", `/${"a/".repeat(12)}other`)).toBe("nothing");
  });
});

describe("paths that cannot be served", () => {
  const faults: readonly string[] = [
    "api",
    "/a//b",
    "/a/{}",
    "/a/{x}.json",
    "/a/{x}/{x}",
    "/a/*",
    "/a/{x*}/b",
    "/a/b*",
    "/a?b",
    "/a/../b",
    "/%E0",
  ];
  test.each(faults)("%s", (written) => {
    expect(parsePathPattern(written)).toEqual({ fault: expect.any(String) });
  });

  const reserved = [
    "/execute",
    "/healthz/",
    "/runs",
    "/runs/{id}",
    "/queues/{x}/messages",
    "/triggers/x",
    "/agents/a/b",
  ];
  test.each([...reserved, "/workflows/run/sync", "/workflows/{name}/execute", "/app/openapi.json", "/api/runs/{id}"])(
    "%s belongs to the service",
    (written) => {
      expect(isReserved(pattern(written))).toBe(true);
    },
  );

  test.each(["/", "/{page}", "/api/tasks", "/execute/{x}", "/workflows", "/workflows/{name}", "/app", "/api"])(
    "%s does not belong to the service",
    (written) => {
      expect(isReserved(pattern(written))).toBe(false);
    },
  );
});
