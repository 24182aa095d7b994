import { expect, test } from "vitest";
import {
  compare,
  dag,
  each,
  endingOf,
  fails,
  hostOf,
  input,
  inputOf,
  item,
  literal,
  machine,
  object,
  pathsOf,
  steps,
  task,
} from "./build.ts";

const companies = { companies: [{ name: "a" }, { name: "b" }, { name: "c" }] };
const scrape = task("scrape", { each: each(input("companies")), input: item("name") });
const enrich = task("enrich", {
  after: ["scrape"],
  itemFields: ["name"],
  input: object({ of: steps("scrape"), name: item("name") }),
});
const score = task("score", { after: ["enrich"], itemFields: ["name"], input: steps("enrich") });

test("a step that names a field of an item runs once per item, on that item's output", () => {
  const host = hostOf(dag(scrape, enrich), { input: companies }).run();
  expect(pathsOf(host)).toEqual(["scrape[0]", "scrape[1]", "scrape[2]", "enrich[0]", "enrich[1]", "enrich[2]"]);
  expect(inputOf(host, "enrich[1]")).toEqual({ of: "scrape[1]", name: "b" });
});

test("an item goes on while another one is still at the step before", () => {
  const slow = { "scrape[2]": { output: "late", delayMs: 100 } };
  const host = hostOf(dag(scrape, enrich, score), { input: companies, script: slow }).run();
  expect(pathsOf(host).indexOf("score[0]")).toBeLessThan(pathsOf(host).indexOf("enrich[2]"));
});

test("a name that the input has belongs to the input, and the step gets the whole list", () => {
  const host = hostOf(dag(scrape, { ...enrich, input: steps("scrape") }), {
    input: { ...companies, name: "of the input" },
  }).run();
  expect(pathsOf(host).at(-1)).toBe("enrich");
  expect(inputOf(host, "enrich")).toEqual(["scrape[0]", "scrape[1]", "scrape[2]"]);
});

test("a step that names no field of an item gets the list of all outputs, in order", () => {
  const slow = { "scrape[0]": { output: "first", delayMs: 50 } };
  const host = hostOf(dag(scrape, task("join", { after: ["scrape"] })), { input: companies, script: slow }).run();
  expect(inputOf(host, "join")).toEqual({ scrape: ["first", "scrape[1]", "scrape[2]"] });
});

test("a path with an index names one instance of a fan-out", () => {
  const host = hostOf(dag(scrape, task("second", { after: ["scrape"], input: steps("scrape", 1) })), {
    input: companies,
  }).run();
  expect(inputOf(host, "second")).toBe("scrape[1]");
});

test("skip takes the item out of all later steps of its fan-out, and the join sees null", () => {
  const flow = dag({ ...scrape, onFailure: "skip" }, enrich, score, task("join", { after: ["score"] }));
  const host = hostOf(flow, { input: companies, script: { "scrape[1]": fails() } }).run();
  expect(pathsOf(host)).not.toContain("enrich[1]");
  expect(pathsOf(host)).not.toContain("score[1]");
  expect(inputOf(host, "join")).toEqual({ score: ["score[0]", null, "score[2]"] });
  expect(endingOf(host)).toEqual({ status: "partial" });
});

test("continue runs the item's later steps with null", () => {
  const flow = dag({ ...scrape, onFailure: "continue" }, enrich);
  const host = hostOf(flow, { input: companies, script: { "scrape[1]": fails() } }).run();
  expect(inputOf(host, "enrich[1]")).toEqual({ of: null, name: "b" });
});

test("an item that a condition skips is skipped in the later steps too", () => {
  const host = hostOf(dag({ ...scrape, when: compare(item("name"), "!=", "b") }, enrich), { input: companies }).run();
  expect(pathsOf(host)).toEqual(["scrape[0]", "scrape[2]", "enrich[0]", "enrich[2]"]);
  expect(endingOf(host)).toEqual({ status: "completed" });
});

test("a condition of a later step reads the item's own output of the step before", () => {
  const flow = dag(scrape, { ...enrich, when: compare(steps("scrape", "ok"), "==", true) });
  const script = {
    "scrape[0]": { output: { ok: true } },
    "scrape[1]": { output: { ok: false } },
    "scrape[2]": { output: { ok: true } },
  };
  expect(pathsOf(hostOf(flow, { input: companies, script }).run()).slice(3)).toEqual(["enrich[0]", "enrich[2]"]);
});

test("a condition of a later step reads the item itself", () => {
  const flow = dag(scrape, { ...enrich, when: compare(item("name"), "==", "c") });
  expect(pathsOf(hostOf(flow, { input: companies }).run()).slice(3)).toEqual(["enrich[2]"]);
});

test("a condition reads the items of a list that is written in the graph", () => {
  const flow = dag(task("a", { each: each(literal([{ ok: true }, { ok: false }])), when: item("ok") }));
  expect(pathsOf(hostOf(flow).run())).toEqual(["a[0]"]);
});

test("a condition reads the items of a list that a variable holds", () => {
  const list = { op: "path", root: "vars", name: "list", path: [] } as const;
  const flow = machine([task("a", { each: each(list), when: item("ok") })], {
    variables: { list: [{ ok: false }, { ok: true }] },
  });
  expect(pathsOf(hostOf(flow).run())).toEqual(["a#1[1]"]);
});

test("a condition reads the items of a list that a step has made", () => {
  const flow = dag(task("find"), task("a", { after: ["find"], each: each(steps("find", "all")), when: item("ok") }));
  const script = { find: { output: { all: [{ ok: false }, { ok: true }] } } };
  expect(pathsOf(hostOf(flow, { script }).run())).toEqual(["find", "a[1]"]);
});

test("an empty list is a domain of zero: all its steps end with []", () => {
  const host = hostOf(dag(scrape, enrich, score, task("join", { after: ["score"] })), {
    input: { companies: [] },
  }).run();
  expect(inputOf(host, "join")).toEqual({ score: [] });
  expect(host.output()).toEqual({ scrape: [], enrich: [], score: [], join: "join" });
});

test("the list of a skipped step is a domain of zero", () => {
  const flow = dag(
    task("find", { when: literal(false) }),
    { ...scrape, after: ["find"], each: each(steps("find", "companies")) },
    enrich,
  );
  expect(hostOf(flow).run().output()).toEqual({ find: null, scrape: [], enrich: [] });
});

test("a follower waits for what it needs outside its fan-out too", () => {
  const flow = dag(scrape, task("rules"), { ...enrich, after: ["scrape", "rules"], input: steps("rules") });
  const host = hostOf(flow, { input: companies, script: { rules: { output: "strict", delayMs: 50 } } }).run();
  expect(pathsOf(host).slice(4)).toEqual(["enrich[0]", "enrich[1]", "enrich[2]"]);
  expect(inputOf(host, "enrich[2]")).toBe("strict");
});

test("a follower of an empty fan-out ends only when what it needs outside has ended", () => {
  const flow = dag(
    scrape,
    task("rules"),
    { ...enrich, after: ["scrape", "rules"] },
    task("join", { after: ["enrich"] }),
  );
  const host = hostOf(flow, { input: { companies: [] }, script: { rules: { output: 1, delayMs: 50 } } }).run();
  expect(pathsOf(host)).toEqual(["rules", "join"]);
});

test("a step's own list opens a new fan-out and sees the other one as a whole", () => {
  const pairs = task("pairs", {
    after: ["scrape"],
    each: each(steps("scrape")),
    input: object({ item: item(), all: steps("scrape") }),
  });
  const host = hostOf(dag(scrape, pairs), { input: companies }).run();
  expect(inputOf(host, "pairs[2]")).toEqual({ item: "scrape[2]", all: ["scrape[0]", "scrape[1]", "scrape[2]"] });
});

test("two fan-outs that could give the item fail the run before anything starts", () => {
  const other = task("other", { each: each(literal([1])) });
  const both = task("both", { after: ["scrape", "other"], itemFields: ["name"] });
  const host = hostOf(dag(scrape, other, both), { input: companies }).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "SHAPE_AMBIGUOUS" });
  expect(pathsOf(host)).toEqual([]);
});

test("nested fan-outs nest in the path: a[1]/b[0]", () => {
  const inner = dag(task("b", { each: each(item("parts")), input: item() }));
  const flow = dag({ kind: "flow", id: "a", each: each(input("groups")), flow: inner });
  const host = hostOf(flow, { input: { groups: [{ parts: ["x"] }, { parts: ["y", "z"] }] } }).run();
  expect(pathsOf(host).toSorted()).toEqual(["a[0]/b[0]", "a[1]/b[0]", "a[1]/b[1]"]);
  expect(inputOf(host, "a[1]/b[1]")).toBe("z");
});

test("an inner step sees the item of the outer fan-out by its step's name", () => {
  const outer = { op: "path", root: "item", name: "a", path: ["id"] } as const;
  const inner = dag(task("b", { each: each(item("parts")), input: object({ outer, inner: item() }) }));
  const flow = dag({ kind: "flow", id: "a", each: each(input("groups")), flow: inner });
  const host = hostOf(flow, { input: { groups: [{ id: 7, parts: ["x"] }] } }).run();
  expect(inputOf(host, "a[0]/b[0]")).toEqual({ outer: 7, inner: "x" });
});

test("no more items than the window run at once, and they start in order", () => {
  const host = hostOf(dag({ ...scrape, each: each(input("companies"), 2) }), { input: companies }).start();
  expect(pathsOf(host)).toEqual(["scrape[0]", "scrape[1]"]);
  expect(pathsOf(host.run())).toEqual(["scrape[0]", "scrape[1]", "scrape[2]"]);
});

test.each([
  ["abort", { status: "failed", code: "LIST_MISSING" }],
  ["skip", { status: "partial" }],
] as const)("a list that is missing, with %s", (onFailure, ending) => {
  const host = hostOf(dag({ ...scrape, onFailure }, enrich), { input: {} }).run();
  expect(endingOf(host)).toEqual(ending);
  expect(host.state.failures).toMatchObject([{ path: "scrape", code: "LIST_MISSING" }]);
});

test("a value that is no list counts as a list of one where the step says so", () => {
  const flow = dag({ ...scrape, each: { ...each(input("companies")), coerce: true } });
  expect(pathsOf(hostOf(flow, { input: { companies: { name: "only" } } }).run())).toEqual(["scrape[0]"]);
});
