import { inspect } from "node:util";
import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Step } from "../../src/core/graph/graph.ts";
import { eq, gt, text } from "../../src/dialects/typescript/conditions.ts";
import { each, loop, when } from "../../src/dialects/typescript/flows.ts";
import { agent, approval, run, wait } from "../../src/dialects/typescript/steps.ts";
import type { Value } from "../../src/dialects/typescript/types.ts";
import { workflow } from "../../src/dialects/typescript/workflow.ts";

const Input = z.object({ name: z.string(), list: z.array(z.object({ id: z.string() })) });
type Given = Value<z.infer<typeof Input>>;

/** A definition that does this with its input. */
const define = (does: (input: Given) => unknown) => () =>
  workflow("w", { input: Input }, ({ input }) => void does(input));
const untyped = (value: unknown) => value as string;
const HERE = /definition\.test\.ts:\d+:\d+/;

test.each<readonly [string, (input: Given) => unknown, string]>([
  ["a template without its tag", (input) => `Dear ${untyped(input.name)}`, "used as a text or a number"],
  ["a sum", (input) => untyped(input.name) + 1, "used as a text or a number"],
  ["JSON", (input) => JSON.stringify(input), "written as JSON"],
  ["a spread into a list", (input) => [...untyped(input.name)], "taken apart as a list"],
  ["a spread into an object", (input) => ({ ...(input as object) }), "taken apart"],
  ["its keys", (input) => Object.keys(input), "taken apart"],
  ["a call", (input) => untyped(input.name).trim(), "called"],
  ["an assignment", (input) => Object.assign(input, { name: "x" }), "changed"],
])("%s of a reference is refused at its line", (_, does, words) => {
  expect(define(does)).toThrow(
    expect.objectContaining({ code: "REFERENCE_MISUSED", message: expect.stringContaining(words) }),
  );
  expect(define(does)).toThrow(HERE);
});

const isBig = process.argv.length > 1_000;
type Callback = (run: { readonly input: Given }) => unknown;

test.each<readonly [string, Callback]>([
  ["a condition", ({ input }) => void (input.name && run("a", {}, () => 1))],
  ["a choice", ({ input: { name } }) => (name ? 1 : 2)],
  ["a denial", (all) => [1].map(() => !all.input.list[0]?.id)],
  ["a substitute", ({ input }) => run("a", { name: input.name ?? "x" }, () => 1)],
  ["a comparison", ({ input }) => (input.name as unknown) === "x"],
  ["a type", ({ input }) => typeof input.list],
  [
    "a case",
    ({ input }) => {
      switch (input.name as unknown) {
        default:
          return 1;
      }
    },
  ],
  [
    "an output",
    () => {
      const a = run("a", {}, () => 1);
      if (a) run("b", {}, () => 1);
    },
  ],
  [
    "a field with a name",
    () => {
      const {
        b: { c },
      } = run("a", {}, () => ({ b: { c: 1 } }));
      const d = c;
      while (d) run("b", {}, () => 1);
    },
  ],
  [
    "a computed condition",
    ({ input }) => {
      const isX = eq(input.name, "x");
      return isBig && isX ? 1 : 2;
    },
  ],
  [
    "a text",
    ({ input }) => {
      const all = text`a ${input.name}`;
      return Boolean(all);
    },
  ],
  ["an item", ({ input }) => each(input.list, (item) => (item ? 1 : 2))],
  ["a field of an item", ({ input }) => each(input.list, ({ id }, index) => (id ? 1 : index))],
  ["a round", () => loop("l", { max: 2, first: 0 }, (was) => ({ next: 1, done: was ? true : gt(was, 1) }))],
  ["an error", () => run("a", {}, () => 1, { fallback: ({ code }) => (code ? 1 : 2) })],
  [
    "what is undone",
    () =>
      run("a", {}, () => 1, {
        undo: (made) => {
          if (made) run("b", {}, () => 1);
        },
      }),
  ],
  ["a value of the definition, in a step,", ({ input }) => run("a", {}, () => (input ? 1 : 2))],
])("%s of a reference that JavaScript tests without asking it is refused", (_, does) => {
  expect(() => workflow("w", { input: Input }, does)).toThrow(
    expect.objectContaining({ code: "REFERENCE_MISUSED", message: expect.stringMatching(HERE) }),
  );
});

test("the line of such a test is that of the text which runs", () => {
  const code = `(run) => ({ input }) => {
    const page = run("page", { input }, ({ input }) => (input ? 1 : 2));
    return [1].map(() => {
      if (page) return 1;
    });
  }`;
  const callback = runInThisContext(code, { filename: "/flows/page.mjs" })(run) as Callback;
  expect(() => workflow("w", { input: Input }, callback)).toThrow(
    "A value that only a run will have, `page`, is tested for truth at /flows/page.mjs:4:11.",
  );
});

test.each<readonly [string, Callback]>([
  ["a step's own values", ({ input }) => run("a", { input }, ({ input }) => (input.name ? typeof input : !input))],
  [
    "a step that may not be declared",
    () => {
      const a = isBig ? run("a", {}, () => 1) : undefined;
      if (a) run("b", { a }, () => 1);
    },
  ],
  [
    "the step before, if any",
    () => {
      let was: Value<number> | undefined;
      for (const name of ["a", "b"]) was = run(name, { was: was ?? 0 }, () => 1);
      return was;
    },
  ],
  [
    "steps that are kept",
    () => {
      const kept = new Map<string, Value<number>>();
      const get = (name: string) => {
        const had = kept.get(name);
        if (had !== undefined) return had;
        const made = run(name, {}, () => 1);
        kept.set(name, made);
        return made;
      };
      return [get("a"), get("a")];
    },
  ],
  [
    "another value of its name",
    () => {
      const a = run("a", {}, () => 1);
      {
        const a = isBig;
        if (a) run("b", {}, () => 1);
      }
      const does = (a?: number) => (a ? 1 : 2);
      return { a, b: does() };
    },
  ],
  [
    "which of two references it is",
    ({ input }) => {
      const first = run("a", { input }, () => 1);
      return [first, run("b", {}, () => 1)].filter((each) => each !== first);
    },
  ],
  ["a part that may be missing", ({ input }) => input.list[0]?.id],
])("%s may be tested in a definition", (_, does) => {
  expect(() => workflow("w", { input: Input }, does)).not.toThrow();
});

test("a wait by fields of an event has them in the graph", () => {
  const flow = workflow("w", { input: Input }, ({ input }) =>
    wait("paid", { event: "payment", match: { "order.id": input.name, part: 1 }, timeout: "2d" }),
  );
  const [step] = flow.graph.flow.steps;
  expect(step).toMatchObject({
    kind: "wait",
    wait: { for: "event", name: { value: "payment" }, match: { part: { value: 1 } }, timeoutMs: 172_800_000 },
  });
  expect(step).toHaveProperty(["wait", "match", "order.id", "op"], "path");
});

test("a callback whose text cannot be read is run as it is", () => {
  const bound = ((_: unknown, { input }: { readonly input: Given }) => run("a", { input }, () => 1)).bind(null, 1);
  expect(() => workflow("w", { input: Input }, bound)).not.toThrow();
});

const odd = (options: object) => options as never;

test.each<readonly [string, Callback, string]>([
  [
    "a key of runs that is no field",
    () => workflow("w", { runsAtOnce: { key: "a b" } }, () => 1),
    "`key` of `runsAtOnce` is `a b`",
  ],
  ["a rate without a time", () => workflow("w", { rate: odd({ limit: 1 }) }, () => 1), "`per` of `rate` is missing"],
  [
    "a rate of too many",
    () => workflow("w", { rate: { limit: 1_001, per: "1m" } }, () => 1),
    "`limit` of `rate` is `1001`",
  ],
  [
    "two ways to wait",
    () => workflow("w", { debounce: { wait: "1m" }, runsAtOnce: {} }, () => 1),
    "has `runsAtOnce` and `debounce`",
  ],
  ["no time to wait", () => workflow("w", { debounce: odd({}) }, () => 1), "`wait` of `debounce` is missing"],
  ["an option that is misspelt", () => run("a", {}, () => 1, odd({ retries: 3 })), "`retries` is no option of `a`"],
  ["half a version", () => run("a", {}, () => 1, { version: 1.5 }), "`version` of `a` is `1.5`"],
  ["a growth of pauses", () => run("a", {}, () => 1, { retry: odd({ attempts: 2, backoff: "cubic" }) }), "`backoff`"],
  ["an agent without a model", () => agent("a", odd({ prompt: "x" })), "`model` of `a` is missing"],
  ["no turns", () => agent("a", { prompt: "x", model: "m", maxTurns: 0 }), "`maxTurns` of `a` is `0`"],
  ["a form", () => approval("a", { form: odd({ yes: "boolean" }) }), "`form` of `a` is of the type object"],
  ["nobody", () => approval("a", { approvers: [] }), "`approvers` of `a`"],
  ["reminders without end", () => approval("a", { reminder: odd({ after: "1d" }) }), "`times` of `reminder` of `a`"],
  ["a reminder", () => approval("a", { reminder: odd([]) }), "The options of `reminder` of `a` are no object"],
  ["an escalation to nobody", () => approval("a", { escalation: { after: "1d", to: [] } }), "`to` of `escalation`"],
  [
    "an escalation after the end",
    () => approval("a", { timeout: "1d", escalation: { after: "1d", to: ["boss"] } }),
    "when the question has ended",
  ],
  ["a wait for nothing", () => wait("a", odd([])[0]), "does not say what it waits for"],
  ["a field", () => wait("a", { event: "paid", match: { "order id": 7 } }), "`order id` of `match` is no path"],
  ["no fields", () => wait("a", { event: "paid", match: {} }), "`match` names no fields"],
  ["a computed event", ({ input }) => wait("a", odd({ event: input.name, match: { id: 7 } })), "no fixed name"],
  ["a window", ({ input }) => each(input.list, (item) => item, { window: 0 }), "`window` of `each` is `0`"],
  ["a called tag", () => run("a", { t: text(untyped("x") as never) }, () => 1), "`text` is called"],
])("%s that cannot be is refused by its name, also in JavaScript", (_, does, words) => {
  const defines = () => workflow("w", { input: Input }, does);
  expect(defines).toThrow(
    expect.objectContaining({ code: "DEFINITION_INVALID", message: expect.stringContaining(words) }),
  );
});

test.each<readonly [string, () => unknown]>([
  ["a trigger of another kind", () => workflow("w", { trigger: odd({ queues: "x" }) }, () => 1)],
  ["an option that is misspelt", () => workflow("w", odd({ timeouts: "1h" }), () => 1)],
  ["a budget of text", () => workflow("w", { budget: odd({ usd: "2" }) }, () => 1)],
  ["no place for a step", () => workflow("w", { concurrency: 0 }, () => 1)],
  ["a negative cost", () => workflow("w", {}, () => run("a", {}, () => 1, { maxCost: -1 }))],
  ["no name", () => workflow(" ", {}, () => 1)],
  ["no function", () => workflow("w", {}, undefined as never)],
])("a workflow with %s is refused at its line", (_, defines) => {
  expect(defines).toThrow(
    expect.objectContaining({ code: "DEFINITION_INVALID", message: expect.stringMatching(HERE) }),
  );
});

test("a reference that is awaited is refused by the definition, and nothing is rejected", async () => {
  const rejected: unknown[] = [];
  const note = (error: unknown) => rejected.push(error);
  process.on("unhandledRejection", note);
  const awaits = async (input: Given) => {
    await (input.name as unknown);
  };
  expect(define((input) => void awaits(input))).toThrow(expect.objectContaining({ code: "REFERENCE_MISUSED" }));
  expect(define((input) => void Promise.all([input.name]))).toThrow(/awaited/);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(rejected).toEqual([]);
});

test.each<readonly [string, (input: Given) => unknown, string]>([
  ["two steps of one name", () => [run("a", {}, () => 1), run("a", {}, () => 2)], "STEP_DUPLICATE"],
  [
    "a step with the name of one around it",
    (input) => each(input.list, () => run("all", {}, () => 1), { name: "all" }),
    "STEP_DUPLICATE",
  ],
  ["a step without a name", () => run("", {}, () => 1), "DEFINITION_INVALID"],
  ["a step without a function", () => run("a", {}, untyped(undefined) as never), "DEFINITION_INVALID"],
  ["a branch without a function", (input) => when(eq(input.name, "a"), untyped("b") as never), "DEFINITION_INVALID"],
  [
    "a loop without rounds",
    () => loop("l", { max: 0, first: 1 }, (was) => ({ next: was, done: true })),
    "DEFINITION_INVALID",
  ],
  ["a duration without its unit", () => wait("w", "30"), "DEFINITION_INVALID"],
  ["a value that is not JSON", () => run("a", { at: new Date() }, () => 1), "DEFINITION_INVALID"],
  ["a value that is not a number", () => run("a", { n: Number.NaN }, () => 1), "DEFINITION_INVALID"],
  ["a value in itself", () => run("a", circle(), () => 1), "DEFINITION_INVALID"],
  ["a schema with a date", () => agent("a", { prompt: "x", model: "m", output: z.date() }), "DEFINITION_INVALID"],
  ["a definition within a definition", () => workflow("inner", {}, () => undefined), "DEFINITION_INVALID"],
])("%s is refused at its line", (_, does, code) => {
  expect(define(does)).toThrow(expect.objectContaining({ code }));
  expect(define(does)).toThrow(HERE);
});

function circle(): object {
  const inner: { self?: unknown } = {};
  inner.self = inner;
  return inner;
}

test("what belongs to an item, an arm or another workflow is known there only", () => {
  let leaked: Value<string> | undefined;
  const keep = (value: Value<string>): undefined => {
    leaked = value;
  };
  const leak = (from: (input: Given) => unknown) =>
    define((input) => {
      from(input);
      run("late", { leaked }, () => 1);
    });
  expect(leak((input) => each(input.list, (item) => keep(item.id)))).toThrow(/inside `each\/item`/);
  const ofArm = leak((input) => when(eq(input.name, "x"), () => keep(run("inner", {}, () => "x"))));
  expect(ofArm).toThrow(expect.objectContaining({ code: "REFERENCE_MISUSED" }));
  workflow("other", { input: Input }, ({ input }) => keep(input.name));
  expect(leak(() => undefined)).toThrow(/from the workflow `other`/);
});

test("a definition that throws leaves nothing open", () => {
  expect(
    define(() => {
      throw new Error("mine");
    }),
  ).toThrow("mine");
  expect(() => run("outside", {}, () => 1)).toThrow(/stands outside of a definition/);
  expect(define(() => undefined)).not.toThrow();
});

test("a reference that a step's function touches says so", () => {
  let kept: Given | undefined;
  const { functions } = workflow("w", { input: Input }, ({ input }) => {
    kept = input;
    return run("a", {}, () => untyped(kept?.name));
  });
  const does = functions.get("w/a")?.does;
  expect(() => does?.({}, {} as never)).toThrow(expect.objectContaining({ code: "REFERENCE_IN_STEP" }));
});

test("to look at a reference is no use of it", () => {
  expect(define((input) => inspect(input))).not.toThrow();
});

test("what is declared behind a gate waits for it, and what is given to a step is waited for", () => {
  const { graph } = workflow("w", { input: Input }, ({ input }) => {
    const early = run("early", { name: input.name }, () => 1);
    approval("yes?", { show: early });
    run("send", {}, () => 1);
    each(input.list, () => run("inner", { early }, () => 1), { name: "all" });
    run("free", {}, () => 1, { after: [early] });
  });
  const after = Object.fromEntries(graph.flow.steps.map((step: Step) => [step.id, step.after ?? []]));
  expect(after).toEqual({
    early: [],
    "yes?": ["early"],
    send: ["yes?"],
    all: ["yes?", "early"],
    free: ["early", "yes?"],
  });
});

test("an approval says when it is told again and to whom it goes on", () => {
  const { graph } = workflow("w", { input: Input }, () => {
    const [reminder, escalation] = [
      { after: "1h", every: "30m", times: 2 },
      { after: "1d", to: ["boss"], replaces: true },
    ] as const;
    approval("yes?", { reminder, escalation, timeout: "2d" });
  });
  expect(graph.flow.steps).toMatchObject([
    {
      reminder: { afterMs: 3_600_000, everyMs: 1_800_000, times: 2 },
      escalation: { afterMs: 86_400_000, to: ["boss"], replaces: true },
    },
  ]);
});

test("the same definition has the same graph", () => {
  const build = () =>
    workflow("w", { input: Input, budget: { usd: 1 } }, ({ input }) => {
      const marks = each(input.list, (item) => agent("mark", { prompt: text`Mark ${item.id}`, model: "m" }));
      const best = loop("best", { max: 3, first: { n: 0 } }, (was) => ({ next: { n: 1 }, done: gt(was.n, 0) }));
      return when(
        gt(best.n, 0),
        () => marks,
        () => null,
      );
    });
  expect(build().graph).toEqual(build().graph);
});

test("steps may have the names that loops and lists give to their own parts", async () => {
  const flow = workflow("w", { input: z.object({ list: z.array(z.number()) }) }, ({ input }) => {
    const all = each(input.list, (item) => each(input.list, () => run("item", { item }, ({ item }) => item)));
    return loop("rounds", { max: 2, first: 0 }, (was) => ({ next: run("round", { was, all }, () => 1), done: false }));
  });
  expect(flow.graph.flow.steps.length).toBeGreaterThan(0);
});

test("triggers may have names, and a cron says what UHLP's says", () => {
  const { graph } = workflow(
    "w",
    {
      trigger: [
        { cron: "0 1 * * *", timezone: "Europe/Berlin", name: "nightly", input: { deep: true }, catchUp: "all" },
        { route: "GET /leads/{id}", name: "read", open: true },
        { event: "paid", name: "pay" },
        { queue: "leads" },
      ],
    },
    () => undefined,
  );
  expect(graph.triggers).toEqual([
    {
      kind: "cron",
      name: "nightly",
      schedule: "0 1 * * *",
      timezone: "Europe/Berlin",
      says: { input: { deep: true }, catchUp: "all" },
    },
    { kind: "http", name: "read", method: "GET", pathPattern: "/leads/{id}", auth: "open" },
    { kind: "event", name: "pay", event: "paid" },
    { kind: "queue", queueName: "leads" },
  ]);
});

test.each<readonly [unknown, RegExp]>([
  [{ cron: "0 1 * * *", catchup: "all" }, /`catchup` is no option of the trigger `cron`.* at .*definition\.test\.ts/],
  [{ cron: "0 1 * * *", overlap: "never" }, /`overlap` of the trigger `cron` is `never`/],
  [{ cron: "0 1 * * *", catchUp: "last" }, /`catchUp` of the trigger `cron` is `last`/],
  [{ cron: "0 1 * * *", input: "x" }, /`input` of the trigger `cron` is `x`/],
  [{ cron: " " }, /`cron` of the trigger `cron`/],
  [{ event: "paid", name: "1st" }, /`name` of the trigger `event` is `1st`/],
  [{ queue: "" }, /`queue` of the trigger `queue`/],
  [{ route: "GET /x", auth: "open" }, /`auth` is no option of the trigger `route`/],
  [[{ queue: "q" }, { queue: "q" }], /Two triggers have the same start: `queue q`/],
  [
    [
      { cron: "0 1 * * *", name: "n" },
      { cron: "0 2 * * *", name: "n" },
    ],
    /Two triggers have the same name: `n`/,
  ],
  [null, /A trigger says nothing/],
])("a trigger that cannot be is refused with its line: %j", (trigger, words) => {
  const define = () => workflow("w", { trigger: odd(trigger as object) }, () => undefined);
  expect(define).toThrow(
    expect.objectContaining({ code: "DEFINITION_INVALID", message: expect.stringMatching(words) }),
  );
});

test("a misspelt option of a cron is told what was meant", () => {
  const define = () => workflow("w", { trigger: odd({ cron: "0 1 * * *", overlaps: "skip" }) }, () => undefined);
  expect(define).toThrow(expect.objectContaining({ remedy: expect.stringContaining("`overlap`") }));
});

const approvalOf = (does: () => unknown): Step | undefined => {
  const [step] = workflow("w", {}, () => void does()).graph.flow.steps;
  return step;
};

test("an approval says what its options say, and nothing else", () => {
  expect(approvalOf(() => approval("a"))).toEqual({
    id: "a",
    after: [],
    kind: "approve",
    message: { op: "literal", value: "a" },
    place: expect.anything(),
  });
  expect(
    approvalOf(() =>
      approval("a", {
        message: "May it?",
        show: { sum: 3 },
        approvers: ["ada", "finance"],
        quorum: 2,
        notRequester: true,
        timeout: "2h",
      }),
    ),
  ).toMatchObject({
    message: { op: "literal", value: "May it?" },
    show: { op: "literal", value: { sum: 3 } },
    approvers: ["ada", "finance"],
    quorum: 2,
    notRequester: true,
    approvalTimeoutMs: 7_200_000,
    onApprovalTimeout: "abort",
  });
  expect(approvalOf(() => approval("a", { timeout: "1m", onTimeout: "skip" }))).toMatchObject({
    approvalTimeoutMs: 60_000,
    onApprovalTimeout: "skip",
  });
  expect(approvalOf(() => approval("a", { form: z.object({ sum: z.number() }) }))).toMatchObject({
    allowEdit: true,
    schema: { type: "object", properties: { sum: { type: "number" } } },
  });
  expect(approvalOf(() => approval("a", { notRequester: false }))).not.toHaveProperty("notRequester");
});

test("what is declared after an approval waits for it, unless it is no gate", () => {
  const afterOf = (gate?: boolean) =>
    workflow("w", {}, () => {
      const early = run("early", {}, () => 1);
      approval("yes?", { after: [early], ...(gate === undefined ? {} : { gate }) });
      run("late", {}, () => 2);
    }).graph.flow.steps.map(({ id, after = [] }) => [id, after]);
  expect(afterOf()).toEqual([
    ["early", []],
    ["yes?", ["early"]],
    ["late", ["yes?"]],
  ]);
  expect(afterOf(false)).toEqual([
    ["early", []],
    ["yes?", ["early"]],
    ["late", []],
  ]);
});

test.each<readonly [object, string]>([
  [{ quorum: 0 }, "`quorum` of `a` is `0`"],
  [{ quorum: 2, form: z.object({}) }, "`a`: "],
  [{ approvers: "ada" }, "`approvers` of `a` is `ada`"],
  [{ notRequester: "yes" }, "`notRequester` of `a` is `yes`"],
  [{ timeout: "2" }, "`timeout` of `a` is `2`"],
  [{ timeout: "2h", onTimeout: "continue" }, "`onTimeout` of `a` is `continue`"],
  [{ gate: "no" }, "`gate` of `a` is `no`"],
  [{ message: 7 }, "`message` of `a` is `7`"],
  [{ approver: ["ada"] }, "`approver` is no option of `a`"],
])("an approval with %j is refused", (options, words) => {
  expect(() => approvalOf(() => approval("a", odd(options)))).toThrow(
    expect.objectContaining({ code: "DEFINITION_INVALID", message: expect.stringContaining(words) }),
  );
});

test.each([
  "POST leads",
  "POST",
  "FETCH /leads",
  "POST /leads/{id}/{id}",
  "POST /leads/x{id}",
  "POST /leads?x=1",
  "POST /a /b",
])("a route that cannot be is refused with its line: %s", (route) => {
  const define = () => workflow("w", { trigger: { route: route as "POST /x" } }, () => undefined);
  expect(define).toThrow(/is no route.* at .*definition\.test\.ts:\d+:\d+\./);
});
