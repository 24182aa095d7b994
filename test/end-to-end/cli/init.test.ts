import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
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
