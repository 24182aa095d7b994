import fc from "fast-check";
import { expect, test } from "vitest";
import type { BuiltInPattern, Policy, PolicyTrigger } from "../graph/policy.ts";
import type { Json } from "../json.ts";
import type { FindAll } from "./find-in-text.ts";
import { judgeOutput } from "./judge-output.ts";

const findAll: FindAll = (text, pattern) =>
  [...text.matchAll(new RegExp(pattern, "gu"))].map(({ 0: match, index }) => ({
    start: index,
    end: index + match.length,
  }));

const policy = (when: PolicyTrigger, more: Partial<Policy> = {}): Policy => ({
  id: "p",
  when,
  action: "redact",
  ...more,
});
const patterns = (...kinds: BuiltInPattern[]): PolicyTrigger => ({ patterns: kinds.map((kind) => ({ kind })) });
const judge = (policies: readonly Policy[], output: Json, costMicro: number | null = 0, tokens = 0) =>
  judgeOutput(policies, { output, costMicro, tokens }, findAll);

test("what is found is replaced in texts, names and numbers however deep, and counted without being told", () => {
  const output = {
    "ada@example.com": [{ to: "ada@example.com, bob@example.com" }],
    card: 4111111111111111,
    n: 7,
    no: null,
  };
  const { output: redacted, decisions } = judge([policy(patterns("email", "card"))], output);
  expect(redacted).toEqual({ "[email]": [{ to: "[email], [email]" }], card: "[card]", n: 7, no: null });
  expect(decisions).toEqual([
    { policy: "p", action: "redact", found: { email: 3, card: 1 }, why: expect.stringContaining("email (3)") },
  ]);
  expect(JSON.stringify(decisions)).not.toContain("ada");
});

test("an own pattern and own texts are replaced by what the policy says; overlaps leave nothing behind", () => {
  const when = {
    patterns: [{ kind: "regex", name: "ticket", pattern: "ACME-\\d+" }],
    contains: ["acme-12 PLAN"],
  } as const;
  expect(judge([policy(when, { replacement: "***" })], "See ACME-1 and Acme-1, and ACME-12 plan.").output).toBe(
    "See *** and Acme-1, and ***.",
  );
});

test("conditions hold together; an unknown cost is over every limit", () => {
  const over = policy({ costOverMicro: 10, tokensOver: 5 }, { action: "block" });
  expect(judge([over], "x", 11, 5).blockedBy).toBeUndefined();
  expect(judge([over], "x", 10, 6).blockedBy).toBeUndefined();
  expect(judge([over], "x", 11, 6).blockedBy).toMatchObject({
    policy: "p",
    why: "it cost $0.000011, over $0.00001, it took 6 tokens, over 5",
  });
  expect(judge([over], "x", null, 6).blockedBy).toMatchObject({ action: "block" });
  const long = policy({ lengthOver: 3, contains: ["no"] }, { action: "approve" });
  expect(judge([long], "no").asks).toBeUndefined();
  expect(judge([long], "NO WAY").asks).toMatchObject({ action: "approve", found: { text: 1 } });
});

test("names that become one by a redaction keep both their values", () => {
  const output = { "a@example.com": 1, "b@example.com": { __proto__: null, constructor: "c@example.com" } };
  expect(judge([policy(patterns("email"))], output).output).toEqual({
    "[email]": 1,
    "[email] 2": { constructor: "[email]" },
  });
});

test("what cannot be searched is held against the output, and is not shown unredacted", () => {
  const when = { patterns: [{ kind: "regex", name: "x", pattern: "x" }] } as const;
  const unsearched = (action: Policy["action"]) =>
    judgeOutput([policy(when, { action })], { output: "x", costMicro: 0, tokens: 0 }, () => undefined);
  expect(unsearched("redact").blockedBy).toMatchObject({ policy: "p", action: "block" });
  expect(unsearched("block").blockedBy).toMatchObject({ policy: "p" });
  expect(unsearched("approve")).toMatchObject({ asks: { policy: "p" }, blockedBy: undefined });
  expect(unsearched("alert")).toMatchObject({ decisions: [{ action: "alert" }], blockedBy: undefined });

  const makesLong = policy({ contains: ["a"] }, { id: "longer", replacement: "x".repeat(100) });
  const short: FindAll = (text) => (text.length > 50 ? undefined : [{ start: 0, end: 1 }]);
  const verdict = judgeOutput([makesLong, policy(when)], { output: "a", costMicro: 0, tokens: 0 }, short);
  expect(verdict).toMatchObject({ output: null, blockedBy: { policy: "p" } });
});

test("a list of a million parts is judged", () => {
  const output = Array.from({ length: 1_000_000 }, () => "x");
  output[999_999] = "ada@example.com";
  expect(judge([policy(patterns("email"), { action: "block" })], output).blockedBy).toMatchObject({
    found: { email: 1 },
  });
});

test("after a redaction none of the patterns is found any more", () => {
  const all = policy(patterns("email", "phone", "card", "secret"));
  const piece = fc.constantFrom(
    "a@example.com",
    "4111111111111111",
    "+49 30 123456",
    "AKIAIOSFODNN7EXAMPLE",
    " ",
    "-",
    ".",
    "x",
    "1",
  );
  const json = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      fc.array(piece, { maxLength: 8 }).map((parts) => parts.join("")),
      fc.array(tie("json"), { maxLength: 3 }),
    ) as fc.Arbitrary<Json>,
  })).json;
  fc.assert(
    fc.property(json, (output) => {
      const { output: once } = judge([all], output);
      expect(judge([all], once).decisions).toEqual([]);
    }),
    { numRuns: 300, seed: 1 },
  );
});
