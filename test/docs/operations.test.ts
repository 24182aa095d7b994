import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { buildProgram } from "../../src/surfaces/cli/program.ts";
import { ENDPOINTS } from "../../src/surfaces/http/service/endpoints.ts";
import { SERVICE_TOOLS } from "../../src/surfaces/mcp/service/service-tools.ts";
import { OPERATIONS, type OperationRow, PARTS, PROCESSES } from "./operations-table.ts";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));
const ADVICE = "Name it in test/docs/operations-table.ts, and say where else it is to be had, or why it is not.";

type Surface = "http" | "cli" | "mcp";

test.each([
  ["http", ENDPOINTS.map(({ id }) => id)],
  [
    "cli",
    verbsOf(
      buildProgram(
        () => Promise.reject(new Error("Nothing is opened.")),
        () => undefined,
      ),
    ),
  ],
  ["mcp", SERVICE_TOOLS.map(({ offered }) => offered.name)],
] as const)(
  "what %s offers is in the table of operations, and what the table promises is there",
  (surface, offered) => {
    const promised = new Set(OPERATIONS.flatMap((row) => namesAt(row, surface)));
    const known = new Set([...promised, ...(surface === "cli" ? PROCESSES : [])]);
    expect(
      offered.filter((name) => !known.has(name)),
      ADVICE,
    ).toEqual([]);
    expect([...known].filter((name) => !offered.includes(name))).toEqual([]);
  },
);

test("every operation that a surface uses is in the table", () => {
  const named = new Set([...OPERATIONS.flatMap(({ files }) => files), ...PARTS]);
  const used = new Set((["http", "cli", "mcp"] as const).flatMap((surface) => [...operationsUsedBy(surface)]));
  const operations = [...used].filter(takesApplication);
  expect(operations.length).toBeGreaterThan(40);
  expect(operations.filter((file) => !named.has(file)).sort(), ADVICE).toEqual([]);
  expect([...named].filter((file) => !used.has(file))).toEqual([]);
});

test.each(["http", "cli", "mcp"] as const)(
  "where the table promises an operation at %s, a file of it is used there",
  (surface) => {
    const used = operationsUsedBy(surface);
    const idle = OPERATIONS.filter(
      (row) => namesAt(row, surface).length > 0 && !row.files.some((file) => used.has(file)),
    );
    expect(idle).toEqual([]);
  },
);

test("a tool needs the scope that the endpoint of its operation needs", () => {
  const scopes = new Map(ENDPOINTS.map(({ id, scope }) => [id, scope]));
  for (const { offered, scope } of SERVICE_TOOLS) {
    const row = OPERATIONS.find((each) => namesAt(each, "mcp").includes(offered.name));
    const needed = new Set(row === undefined ? [] : namesAt(row, "http").map((id) => scopes.get(id)));
    if (needed.size > 0) expect({ tool: offered.name, scope }).toEqual({ tool: offered.name, scope: [...needed][0] });
  }
});

function namesAt(row: OperationRow, surface: Surface): readonly string[] {
  const place = row[surface];
  return "no" in place ? [] : place;
}

/** Every verb that does something, as it is typed. */
function verbsOf(command: Command, path: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands.flatMap((below) => verbsOf(below, [...path, below.name()]));
}

function operationsUsedBy(surface: Surface): ReadonlySet<string> {
  const folder = join(SOURCES, "surfaces", surface);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  // What the server itself gives to its routes.
  const given = ["open-server.ts", "describe-gauges.ts"].map((file) => join(SOURCES, "app", file));
  const server = surface === "http" ? given : [];
  const texts = [...files.map((file) => join(folder, file)), ...server].map((file) => readFileSync(file, "utf8"));
  const imported = /^import (?!type)[^;]*? from "[^"]*\/operations\/([\w/-]+\.ts)";/gm;
  return new Set(texts.flatMap((text) => [...text.matchAll(imported)].map(([, file = ""]) => file)));
}

/** What a user asks for begins with an application; everything else is a part. */
function takesApplication(file: string): boolean {
  const text = readFileSync(join(SOURCES, "operations", file), "utf8");
  return /^export (?:async )?function\*? \w+(?:<[^(]*>)?\(\s*(?:\{[^}]*\}|\w+): [^,)]*Application/m.test(text);
}
