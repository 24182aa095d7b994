import { describe, expect, test } from "vitest";
import { type CallCost, decideMoney, decideUse, type Money } from "./decide-admission.ts";

const MONEY: Money = { limit: 1_000, taken: 0, inFlight: 0, claimed: 0, othersWork: false };
const CALL: CallCost = { atMost: 100, least: 10, planned: 300 };

describe("money", () => {
  const table: readonly (readonly [
    string,
    Partial<Money>,
    Partial<CallCost>,
    { begins?: boolean; usual?: number },
    unknown,
  ])[] = [
    ["a call that fits goes, with its own bound", {}, {}, {}, { kind: "go", micro: 100 }],
    [
      "an attempt begins if its plan fits beside others",
      { claimed: 700 },
      {},
      { begins: true },
      { kind: "go", micro: 100 },
    ],
    ["else it waits for them", { claimed: 701, othersWork: true }, {}, { begins: true }, { kind: "wait" }],
    [
      "what its kind has cost counts more than the plan",
      { claimed: 900, othersWork: true },
      {},
      { begins: true, usual: 50 },
      { kind: "go", micro: 100 },
    ],
    [
      "one that has begun needs only the money of its call",
      { claimed: 2_000, inFlight: 900 },
      {},
      {},
      { kind: "go", micro: 100 },
    ],
    ["and waits for calls in flight", { inFlight: 901, othersWork: true }, {}, {}, { kind: "wait" }],
    ["alone, a plan holds nobody back", { taken: 800 }, {}, { begins: true }, { kind: "go", micro: 100 }],
    [
      "but what its kind has cost does",
      { taken: 800 },
      {},
      { begins: true, usual: 201 },
      { kind: "short", needs: 201 },
    ],
    ["alone, a call gets all that is left if that is enough", { taken: 950 }, {}, {}, { kind: "go", micro: 50 }],
    ["and none if it is not", { taken: 991 }, {}, {}, { kind: "short", needs: 10 }],
    [
      "a bound that is not known waits until it is alone",
      { othersWork: true },
      { atMost: Number.POSITIVE_INFINITY },
      {},
      { kind: "wait" },
    ],
    [
      "and gets all that is left",
      { taken: 400 },
      { atMost: Number.POSITIVE_INFINITY, least: 1 },
      {},
      { kind: "go", micro: 600 },
    ],
  ];
  test.each(table)("%s", (_, money, call, { begins = false, usual }, decision) => {
    expect(decideMoney({ ...MONEY, ...money }, { ...CALL, ...call }, { begins, usual })).toEqual(decision);
  });
});

test.each([
  ["begins while something is left", { taken: 999 }, "go"],
  ["waits if others would use the rest", { taken: 800, claimed: 150, othersWork: true }, "wait"],
  ["begins alone, even if it will use more", { taken: 980 }, "go"],
  ["is short where all is used", { taken: 1_000, othersWork: true }, "short"],
] as const)("by another amount an attempt %s", (_, money, decision) => {
  expect(decideUse({ limit: 1_000, claimed: 0, othersWork: false, usual: 100, ...money })).toBe(decision);
});
