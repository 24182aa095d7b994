import { expect, test } from "vitest";
import type { Script } from "../../../test/simulation/build.ts";
import {
  compare,
  dag,
  each,
  end,
  fails,
  go,
  hostOf,
  input,
  literal,
  machine,
  output,
  retry,
  task,
} from "../../../test/simulation/build.ts";
import type { Flow } from "../graph/graph.ts";
import { Downstream } from "./downstream.ts";

/** Which of all dispatched tasks depend on the target. */
function downstreamOf(target: string, flow: Flow, script: Script = {}): string[] {
  const downstream = new Downstream(target);
  const found: string[] = [];
  const host = hostOf(flow, {
    script,
    input: { list: [{ name: "a" }, { name: "b" }] },
    outside: {
      // Bound and dispatched in the same moment: what is live now is what the host asks about.
      task: (call) => {
        const instance = host.state.active.get(call.path);
        if (instance !== undefined && downstream.has(instance)) found.push(call.path);
        const result = script[call.path] ?? script[call.stepId];
        return result === undefined || Array.isArray(result) ? { output: call.path } : (result as { output: null });
      },
    },
  });
  host.run();
  return found;
}

const fan = dag(
  task("find"),
  task("scrape", { each: each(input("list")), after: ["find"] }),
  task("enrich", { after: ["scrape"], itemFields: ["name"] }),
  task("join", { after: ["enrich"] }),
  task("aside", { after: ["find"] }),
);

test.each([
  ["find", ["find", "scrape[0]", "scrape[1]", "aside", "enrich[0]", "enrich[1]", "join"]],
  ["scrape[1]", ["scrape[1]", "enrich[1]", "join"]],
  ["scrape", ["scrape[0]", "scrape[1]", "enrich[0]", "enrich[1]", "join"]],
  ["enrich[0]", ["enrich[0]", "join"]],
  ["join", ["join"]],
])("behind %s stand what needs it, item by item, and the joins", (target, paths) => {
  expect(downstreamOf(target, fan)).toEqual(paths);
});

test("an item is reached by way of a join of its own fan-out", () => {
  const flow = dag(
    task("a", { each: each(input("list")) }),
    task("all", { after: ["a"] }),
    task("b", { after: ["a", "all"], itemFields: ["name"] }),
  );
  expect(downstreamOf("a[0]", flow)).toEqual(["a[0]", "all", "b[0]", "b[1]"]);
});

const nested = dag(
  task("before"),
  { kind: "flow", id: "in", after: ["before"], flow: dag(task("x"), task("y", { after: ["x"] }), task("z")) },
  task("after", { after: ["in"] }),
);

test.each([
  ["in/x", ["in/x", "in/y", "after"]],
  ["in", ["in/x", "in/z", "in/y", "after"]],
  ["before", ["before", "in/x", "in/z", "in/y", "after"]],
])("inside and around a nested flow: %s", (target, paths) => {
  expect(downstreamOf(target, nested)).toEqual(paths);
});

test("in a machine everything that starts after the visit of the target comes after it", () => {
  const flow = machine([
    task("a", { transitions: [go("b")] }),
    task("b", { transitions: [go("a", compare(output(), "==", "b#1")), end()] }),
  ]);
  expect(downstreamOf("b#1", flow)).toEqual(["b#1", "a#2", "b#2"]);
  expect(downstreamOf("a#2", flow)).toEqual(["a#2", "b#2"]);
});

test("other items of the same visit do not come after", () => {
  const flow = machine([task("a", { each: each(literal([1, 2])), transitions: [go("b")] }), task("b")]);
  expect(downstreamOf("a#1[0]", flow)).toEqual(["a#1[0]", "b#1"]);
});

test("the catch comes after the step, and finally after the catch", () => {
  const flow = dag(task("a", { catch: dag(task("mend")), finally: dag(task("tidy")) }));
  expect(downstreamOf("a~catch/mend", flow, { a: fails() })).toEqual(["a~catch/mend", "a~finally/tidy"]);
  expect(downstreamOf("a", flow, { a: fails() })).toEqual(["a", "a~catch/mend", "a~finally/tidy"]);
});

test("another try of a nested flow comes after the one before", () => {
  const flow = dag({ kind: "flow", id: "in", retry: retry(2), flow: dag(task("x"), task("y")) });
  expect(downstreamOf("in/x", flow, { "in/x": fails() })).toEqual(["in/x", "in~retry1/x", "in~retry1/y"]);
});
