import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { checkGraph } from "../../src/core/graph/check-graph.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import { renderProblem } from "../../src/dialects/render-problem.ts";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface FixtureFrame {
  readonly dialect: string;
  readonly extension: ".yaml" | ".json";
  /** For a dialect whose files hold several graphs: all of them are compiled. */
  readonly hasParts?: true;
  /** JSON with line breaks where a difference is best seen. */
  toLines(graphs: readonly Graph[]): string;
}

/**
 * The files of `test/fixtures/DIALECT`: `valid` ones compile to the graphs written beside them, `warned` ones compile, where
 * slips are allowed, with the warnings beside them, `broken` ones give the problems beside them. `UPDATE=1` writes what is there now; read the
 * difference before committing it.
 */
export function testFixtures(frame: FixtureFrame): void {
  const { dialect, extension, hasParts, toLines } = frame;
  const folder = `${ROOT}test/fixtures/${dialect}/`;
  const names = (kind: string) => namesIn(`${folder}${kind}`, extension);

  describe("valid files compile to the graphs that are written beside them", () => {
    test.each(names("valid"))("%s", async (name) => {
      const { graphs, rendered } = await compileFile(`${folder}valid/${name}${extension}`, hasParts);
      const suffix = hasParts ? "graphs" : "graph";
      expectFile(`${folder}valid/${name}.${suffix}.json`, graphs.length === 0 ? rendered : toLines(graphs));
      expectFile(`${folder}valid/${name}.problems.txt`, rendered);
      expect(graphs.flatMap((graph) => checkGraph(graph))).toEqual([]);
    });
  });

  describe.runIf(names("warned").length > 0)(
    "doubtful files compile with the warnings that are written beside them",
    () => {
      test.each(names("warned"))("%s", async (name) => {
        const { graphs, rendered } = await compileFile(`${folder}warned/${name}${extension}`, hasParts, true);
        expect(rendered).not.toBe("");
        expectFile(`${folder}warned/${name}.problems.txt`, rendered);
        expect(graphs).not.toEqual([]);
        expect(graphs.flatMap((graph) => checkGraph(graph))).toEqual([]);
      });
    },
  );

  describe("broken files give the problems that are written beside them", () => {
    test.each(names("broken"))("%s", async (name) => {
      const { graphs, rendered } = await compileFile(`${folder}broken/${name}${extension}`);
      expect(graphs).toEqual([]);
      expect(rendered).not.toBe("");
      expectFile(`${folder}broken/${name}.problems.txt`, rendered);
    });
  });
}

/** Names without their extension. A folder that a dialect does not have is empty. */
export function namesIn(folder: string, extension: FixtureFrame["extension"]): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(extension) && !/\.graphs?\.json$/.test(name))
    .map((name) => name.slice(0, -extension.length));
}

export async function compileFile(path: string, hasParts?: true, isLenient = false) {
  const text = readFileSync(path, "utf8");
  const definition = { text, file: basename(path) };
  const options = { isLenient, ...(hasParts ? ({ select: "all" } as const) : {}) };
  const { graph, parts = [], problems } = await loadDefinition(definition, options);
  const graphs = hasParts ? parts.map((part) => part.toGraph()) : graph === undefined ? [] : [graph];
  return { graphs, rendered: problems.map((problem) => renderProblem(problem, text)).join("\n\n") };
}

function expectFile(path: string, content: string): void {
  if (process.env["UPDATE"] === "1" && content !== "") writeFileSync(path, `${content}\n`);
  const expected = content === "" ? "" : readFileSync(path, "utf8");
  expect(content === "" ? "" : `${content}\n`).toBe(expected);
}
