import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { replaceObject } from "../../src/storage/files/edit-json-text.ts";
import { toPythonJson } from "../../src/storage/files/python-json.ts";
import { type DamagedFile, TerminalLibrary } from "../../src/storage/files/terminal-library.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { state, when, workflow } from "./terminal-world.ts";

const simple = (name: string, more: JsonObject = {}) => workflow({ start: state() }, { name, ...more });

async function newLibrary() {
  const dir = join(await temporaryFolder(), ".terminal_control_workflows");
  const damaged: DamagedFile[] = [];
  const library = new TerminalLibrary({
    dir,
    reportDamage: (each) => damaged.push(each),
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  });
  const readJson = async (file: string) => JSON.parse(await readFile(join(dir, file), "utf8")) as JsonObject;
  return { dir, library, damaged, readJson };
}

test("a saved workflow has the fields that the Python tool writes, and is loaded by its name", async () => {
  const { library, readJson, dir } = await newLibrary();
  const definition = simple("one", { description: "Première" });
  expect(await library.save(definition, { states: 3 })).toBe("one");
  const at = "2026-01-02T03:04:05.678000+00:00";
  const hash = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(await readJson("one.json")).toEqual({
    definition,
    metadata: { hash, created: at, success_count: 1, last_execution: at, total_states: 3 },
  });
  expect(await readJson("index.json")).toEqual({
    workflows: { one: { file: "one.json", hash, description: "Première", created: at, success_count: 1 } },
    created: at,
    version: "1.0",
  });
  expect(await readFile(join(dir, "one.json"), "utf8")).toMatch(
    /^\{\n {2}"definition": \{\n {4}"name": "one",\n {4}"initial_state"/,
  );
  expect(await readFile(join(dir, "one.json"), "utf8")).toContain("Premi\\u00e8re");
  expect(await library.load("one")).toEqual(definition);
  expect(await library.list()).toEqual([{ name: "one", description: "Première", created: at, successCount: 1 }]);
});

test("a library that is only read is not created", async () => {
  const { library, dir } = await newLibrary();
  expect(await library.list()).toEqual([]);
  expect(await library.load("one")).toBeUndefined();
  await expect(readdir(dir)).rejects.toThrow("ENOENT");
});

test("the same workflow is not saved twice, whatever it is called", async () => {
  const { library } = await newLibrary();
  await library.save(simple("one"), { states: 1 });
  expect(await library.save(simple("other", { description: "again" }), { states: 1 })).toBeUndefined();
  expect((await library.list()).map(({ name }) => name)).toEqual(["one"]);
});

test("another workflow of the same name gets a number that keeps the name valid", async () => {
  const { library } = await newLibrary();
  const variant = (n: number, name = "one") => workflow({ [`state_${n}`]: state() }, { name });
  expect(await library.save(variant(1), { states: 1 })).toBe("one");
  expect(await library.save(variant(2), { states: 1 })).toBe("one_2");
  expect(await library.save(variant(3, "ONE"), { states: 1 })).toBe("ONE_3");
  expect(await library.load("one_2")).toMatchObject({ name: "one_2", initial_state: "state_2" });
  const long = "a".repeat(64);
  await library.save(variant(4, long), { states: 1 });
  expect(await library.save(variant(5, long), { states: 1 })).toBe(`${"a".repeat(62)}_2`);
  expect(await library.save(variant(6, "index"), { states: 1 })).toBe("index_2");
});

test("a success is counted, and the definition keeps its own spelling", async () => {
  const { library, dir, readJson } = await newLibrary();
  const written = `{"definition": {"name": "py", "initial_state": "a", "states": {"a": {"timeout": 30.0, "x": "} \\" {\\u00e9"}}}, "metadata":  {"success_count": 4, "hash": "abc", "mine": 1}\n}`;
  await mkdir(dir);
  await writeFile(join(dir, "py.json"), written);
  await writeFile(
    join(dir, "index.json"),
    JSON.stringify({ workflows: { py: { file: "py.json", success_count: 4 } }, own: 1 }),
  );
  await library.noteSuccess("py");
  const text = await readFile(join(dir, "py.json"), "utf8");
  expect(text.startsWith(written.slice(0, written.indexOf('"metadata"')))).toBe(true);
  expect((await readJson("py.json"))["metadata"]).toEqual({
    success_count: 5,
    hash: "abc",
    mine: 1,
    last_execution: "2026-01-02T03:04:05.678000+00:00",
  });
  expect(await readJson("index.json")).toMatchObject({
    workflows: { py: { file: "py.json", success_count: 5 } },
    own: 1,
  });
  await library.noteSuccess("nobody");
});

test("loading counts nothing", async () => {
  const { library } = await newLibrary();
  await library.save(simple("one"), { states: 1 });
  await library.load("one");
  expect((await library.list())[0]?.successCount).toBe(1);
});

describe("damage", () => {
  test("a file that cannot be read is reported, keeps its name, and stays as it is", async () => {
    const { library, dir, damaged } = await newLibrary();
    await mkdir(dir);
    await writeFile(join(dir, "one.json"), "{ half");
    await expect(library.load("one")).rejects.toMatchObject({ code: "LIBRARY_DAMAGED" });
    expect(await library.save(simple("one"), { states: 1 })).toBe("one_2");
    expect(damaged.map(({ file }) => file)).toContain(join(dir, "one.json"));
    expect(await readFile(join(dir, "one.json"), "utf8")).toBe("{ half");
    expect((await library.list()).map(({ name }) => name)).toEqual(["one_2"]);
  });

  test.each(["", "[]", '{"workflows": []}', "{", "null"])(
    "an index of %j is reported and stays as it is",
    async (text) => {
      const { library, dir, damaged } = await newLibrary();
      await mkdir(dir);
      await writeFile(join(dir, "index.json"), text);
      expect(await library.save(simple("one"), { states: 1 })).toBe("one");
      await library.noteSuccess("one");
      expect((await library.list()).map(({ name, successCount }) => [name, successCount])).toEqual([["one", 2]]);
      expect(await readFile(join(dir, "index.json"), "utf8")).toBe(text);
      expect(damaged[0]?.file).toBe(join(dir, "index.json"));
    },
  );

  test("what cannot be read at all, or is nested too deeply, keeps nobody from the others", async () => {
    const { dir, library, damaged } = await newLibrary();
    await library.save(simple("good"), { states: 1 });
    await mkdir(join(dir, "folder.json"));
    await symlink("circle.json", join(dir, "circle.json"));
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    await writeFile(join(dir, "deep.json"), `{"definition": {"states": ${deep}}, "metadata": {}}`);
    expect((await library.list()).map(({ name }) => name)).toEqual(["good"]);
    expect(await library.save(simple("other", { initial_state: "other" }), { states: 1 })).toBe("other");
    for (const name of ["folder", "circle", "deep"])
      await expect(library.load(name)).rejects.toMatchObject({ code: "LIBRARY_DAMAGED" });
    expect(new Set(damaged.map(({ file }) => basename(file)))).toEqual(
      new Set(["folder.json", "circle.json", "deep.json"]),
    );
  });

  test("an entry of the index without its file is not listed", async () => {
    const { library, dir } = await newLibrary();
    await mkdir(dir);
    await writeFile(join(dir, "index.json"), JSON.stringify({ workflows: { gone: { file: "gone.json" } } }));
    expect(await library.list()).toEqual([]);
  });

  test("a name is never a path", async () => {
    const { library, dir } = await newLibrary();
    await mkdir(dir);
    await writeFile(join(dir, "..", "secret.json"), JSON.stringify({ definition: simple("secret") }));
    for (const name of ["../secret", "..\\secret", "index", "a/b", "", "__proto__", ".", "secret\u0000"]) {
      expect(await library.load(name)).toBeUndefined();
    }
    expect(await library.save({ ...simple("x"), name: "../../evil" }, { states: 1 })).toBe("workflow");
  });
});

describe("the lock", () => {
  const save = promisify(execFile);
  const node = process.execPath;

  test("processes that save at the same time lose nothing", async () => {
    const { library, dir, readJson } = await newLibrary();
    const script = fileURLToPath(new URL("save-many.ts", import.meta.url));
    const children = ["a", "b", "c", "d"].map((who) => save(node, [script, dir, who, "6"]));
    const names = (await Promise.all(children)).flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
    const expected = ["same", ...Array.from({ length: 23 }, (_, i) => `same_${i + 2}`)].sort();
    expect([...names].sort()).toEqual(expected);
    expect(Object.keys((await readJson("index.json"))["workflows"] as JsonObject).sort()).toEqual(expected);
    expect((await library.list()).find(({ name }) => name === "same")?.successCount).toBe(25);
    expect((await readdir(join(dir, ".pawl"))).sort()).toEqual(["holder", "incoming", "lock.db"]);
    expect(await readdir(join(dir, ".pawl", "incoming"))).toEqual([]);
  });

  test("a change waits for the process that holds it, and one whose process is killed is free at once", async () => {
    const { library, dir } = await newLibrary();
    await mkdir(join(dir, ".pawl"), { recursive: true });
    const hold = `const { DatabaseSync } = require("node:sqlite");
      new DatabaseSync(process.argv[1]).exec("BEGIN EXCLUSIVE"); console.log("held"); setInterval(() => {}, 1000)`;
    const holder = spawn(node, ["-e", hold, join(dir, ".pawl", "lock.db")], { stdio: ["ignore", "pipe", "ignore"] });
    await once(holder.stdout, "data");
    const saving = library.save(simple("one"), { states: 1 });
    expect(await Promise.race([saving, setTimeout(200, "waits")])).toBe("waits");
    holder.kill("SIGKILL");
    expect(await saving).toBe("one");
  });
});

describe("hashes", () => {
  const python = (program: string, input: string) =>
    execFileSync("python3", ["-c", program], { input, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 }).trim();

  test("are those of the Python tool", async () => {
    const { library, readJson } = await newLibrary();
    const definition = workflow(
      {
        a: state([when({ field_contains: { screen_content: 'é "😀" \u007f \\ \n\t\b\u0001' } }, "a")], {
          timeout: 0.5,
        }),
      },
      { name: "x", description: "y" },
    );
    await library.save(definition, { states: 1 });
    const program = `
import json, sys, hashlib
d = json.load(sys.stdin)
c = {k: v for k, v in d.items() if k not in ["name", "description"]}
print(hashlib.sha256(json.dumps(c, sort_keys=True).encode()).hexdigest()[:16])`;
    const { metadata } = await readJson("x.json");
    expect((metadata as JsonObject)["hash"]).toBe(python(program, JSON.stringify(definition)));
  });

  test("come from the same text for any value", () => {
    const key = fc.string({ unit: "binary", maxLength: 4 });
    const number = fc.oneof(
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
      fc.maxSafeInteger(),
      fc.constantFrom(0.1, 1e-5, 1e-4, 1.5e-7, 123456789.125, 1e15 + 0.5),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.string({ unit: "binary" }),
        number,
        fc.boolean(),
        fc.constant(null),
        tie("list"),
        tie("map"),
      ),
      list: fc.array(tie("value"), { maxLength: 4 }),
      map: fc.dictionary(key, tie("value"), { maxKeys: 5 }),
    }));
    const values = fc.sample(value, { numRuns: 1_500, seed: 7 }) as JsonObject[];
    const program = "import json, sys\nfor v in json.load(sys.stdin): print(json.dumps(v, sort_keys=True))";
    expect(values.map(toPythonJson)).toEqual(python(program, JSON.stringify(values)).split("\n"));
  });
});

test("an object inside a text is replaced, whatever stands around it", async () => {
  expect(await replaceObject('{"a":{"metadata":{}},"metadata" : {"b":[{}]},"c":1}', "metadata", "X")).toBe(
    '{"a":{"metadata":{}},"metadata" : X,"c":1}',
  );
  expect(await replaceObject('{"a":"\\"metadata\\": {","metadata":{}}', "metadata", "X")).toBe(
    '{"a":"\\"metadata\\": {","metadata":X}',
  );
  expect(await replaceObject('{"metadata":1}', "metadata", "X")).toBeUndefined();
  expect(await replaceObject('{"a":"metadata"}', "metadata", "X")).toBeUndefined();
});
