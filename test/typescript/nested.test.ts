import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  approval,
  count,
  each,
  eq,
  gt,
  loop,
  match,
  not,
  openTestPawl,
  run,
  StepFailure,
  text,
  type Value,
  when,
  workflow,
} from "../../src/embed/pawl.ts";

// Flows within flows: what is read from which of them.

const Item = z.object({ kind: z.string(), size: z.number() });
const Input = z.object({ n: z.number(), groups: z.array(z.object({ kind: z.string(), items: z.array(Item) })) });
const INPUT: z.infer<typeof Input> = {
  n: 2,
  groups: [
    {
      kind: "a",
      items: [
        { kind: "x", size: 1 },
        { kind: "y", size: 2 },
      ],
    },
    { kind: "b", items: [{ kind: "b", size: 3 }] },
  ],
};

const failing = (code: string) => (): string => {
  throw new StepFailure(code, "No.");
};

const cases: { readonly [what: string]: readonly [does: (input: Value<typeof INPUT>) => unknown, result: unknown] } = {
  "the list of an inner fan-out is a field of the outer item": [
    ({ groups }) =>
      each(groups, (group) =>
        each(group.items, (item) => run("read", { item, group }, ({ item, group }) => `${group.kind}${item.size}`), {
          window: 2,
        }),
      ),
    [["a1", "a2"], ["b3"]],
  ],
  "a condition reads the inner item, the outer one, and both": [
    ({ groups }) =>
      each(groups, (group) =>
        each(group.items, (item) => ({
          inner: when(
            eq(item.kind, "x"),
            () => "yes",
            () => "no",
          ),
          outer: when(
            eq(group.kind, "a"),
            () => text`of ${item.size}`,
            () => "no",
          ),
          both: when(
            eq(group.kind, item.kind),
            () => "yes",
            () => "no",
          ),
        })),
      ),
    [
      [
        { inner: "yes", outer: "of 1", both: "no" },
        { inner: "no", outer: "of 2", both: "no" },
      ],
      [{ inner: "no", outer: "no", both: "yes" }],
    ],
  ],
  "a list of values from several steps": [
    ({ n }) => {
      const one = run("one", {}, () => 1);
      const list = run("list", { n, one }, ({ n, one }) => [one, n]);
      return {
        listed: each(list, (item) =>
          when(
            gt(item, n),
            () => "more",
            () => "less",
          ),
        ),
      };
    },
    { listed: ["less", "less"] },
  ],
  "a loop within a loop reads the value of both": [
    () =>
      loop("outer", { max: 3, first: 1 }, (outer) => {
        const next = loop("inner", { max: 2, first: 0 }, (inner) => ({
          next: when(
            gt(outer, 1),
            () => run("much", { inner, outer }, ({ inner, outer }) => inner + 100 * outer),
            () => run("little", { inner, outer }, ({ inner, outer }) => inner + outer),
          ),
          done: eq(outer, 2),
        }));
        return { next, done: false };
      }),
    40_000,
  ],
  "a fan-out over the value of a loop, with conditions on its items": [
    () =>
      loop("double", { max: 2, first: [1, 2] }, (was) => {
        const next = each(was, (size) =>
          when(
            gt(size, 2),
            () => run("twice", { size }, ({ size }) => size * 2),
            () => run("more", { size, was }, ({ size, was }) => size + was.length),
          ),
        );
        return { next, done: eq(count(next), 3) };
      }),
    [6, 8],
  ],
  "a loop begins with values that only the run has": [
    ({ n }) =>
      loop("until", { max: 9, first: { sum: n, done: false } }, (was) => {
        const next = run("add", { was }, ({ was }) => ({ sum: was.sum + 5, done: was.sum > 10 }));
        return { next, done: next.done };
      }).sum,
    17,
  ],
  "a fallback within a fallback knows both failures": [
    () =>
      run("a", {}, failing("A"), {
        fallback: (first) =>
          run("b", {}, failing("B"), { fallback: (second) => text`${first.code}, then ${second.code}` }),
      }),
    "A, then B",
  ],
  "steps of one name in a fallback and a finally call their own functions": [
    () =>
      run("a", {}, failing("A"), {
        fallback: () => run("mail", {}, () => "from the fallback"),
        finally: () => void run("mail", {}, () => "from the finally"),
      }),
    "from the fallback",
  ],
  "a kind of an outer item": [
    ({ groups }) =>
      each(groups, (group) => {
        const shape = run("shape", { group }, ({ group }): { kind: "one"; of: number } | { kind: "many" } =>
          group.items.length === 1 ? { kind: "one", of: 1 } : { kind: "many" },
        );
        return each(group.items, () => match(shape, "kind", { one: ({ of }) => text`one ${of}`, many: () => "many" }));
      }),
    [["many", "many"], ["one 1"]],
  ],
};

test.each(Object.entries(cases))("%s", async (_, [does, result]) => {
  const flow = workflow("nested", { input: Input }, ({ input }) => does(input));
  const pawl = await openTestPawl({ workflows: [flow] });
  onTestFinished(() => pawl.close({ drain: 0 }));
  expect(await (await pawl.start(flow, INPUT)).result()).toEqual(result);
});

test("an approval in a branch of a loop is asked in each round", async () => {
  const flow = workflow("haggle", { input: z.object({ limit: z.number() }) }, ({ input }) =>
    loop("price", { max: 5, first: 200 }, (was) => {
      const next = when(
        gt(was, input.limit),
        () => approval("less?", { show: { was }, form: z.object({ price: z.number() }) }).price,
        () => 0,
      );
      return { next, done: not(gt(next, input.limit)) };
    }),
  );
  const pawl = await openTestPawl({ workflows: [flow] });
  onTestFinished(() => pawl.close({ drain: 0 }));
  const { id } = await pawl.start(flow, { limit: 100 });
  const asked: string[] = [];
  for await (const { event, data } of pawl.run(id).events()) {
    if (event !== "step" || data.status !== "awaiting_approval") continue;
    asked.push(data.path);
    await pawl.approve(id, data.path, { price: asked.length === 1 ? 150 : 90 });
  }
  expect(await pawl.run(id).result()).toBe(90);
  expect(asked).toEqual(["price/round#1/when/less%3F", "price/round#2/when/less%3F"]);
});
