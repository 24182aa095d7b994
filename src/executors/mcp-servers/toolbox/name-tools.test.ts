import { expect, test } from "vitest";
import { nameTools } from "./name-tools.ts";

const offer = (server: string, tool: string, weight = 1) => ({ server, tool, weight });
const namesOf = (...tools: ReturnType<typeof offer>[]) => nameTools(tools).map(({ name }) => name);

test("a tool has its own name, with `_` for what a model's name may not hold", () => {
  expect(namesOf(offer("files", "read_file"), offer("files", "dir.list all"))).toEqual(["read_file", "dir_list_all"]);
});

test("of two servers the heavier has the bare name", () => {
  expect(namesOf(offer("a", "search"), offer("b", "search", 2))).toEqual(["mcp__a__search", "search"]);
});

test("of equals the first in the file has it", () => {
  expect(namesOf(offer("a", "search"), offer("b", "search"), offer("c", "search", 0.5))).toEqual([
    "search",
    "mcp__b__search",
    "mcp__c__search",
  ]);
});

test("qualified names mean a tool whatever else is offered", () => {
  const [first] = nameTools([offer("my server", "dir.list")]);
  expect(first?.aliases).toEqual([
    "my server.dir.list",
    "my server/dir.list",
    "mcp__my server__dir.list",
    "mcp__my_server__dir_list",
  ]);
});

test("names that differ only in what is replaced, or that are too long, stay apart and short", () => {
  const long = "x".repeat(100);
  const names = namesOf(
    offer("a", "b.c"),
    offer("a", "b c"),
    offer("a", "b-c"),
    offer("a", "b/c"),
    offer("a", `${long}1`),
    offer("a", `${long}2`),
    offer("b", `${long}1`),
    offer("ü", "日本"),
    offer("ö", "日本"),
    offer("b", "mcp__a__b_c"),
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
});

test("a name does not depend on how many others there are", () => {
  const crowd = Array.from({ length: 50 }, (_, index) => offer(`s${index}`, "run"));
  expect(namesOf(...crowd)[7]).toBe(namesOf(...crowd.slice(0, 8))[7]);
});
