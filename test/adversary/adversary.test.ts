import { expect, test } from "vitest";
import { needs } from "../support/needs.ts";
import { attackOnce, PART_NAMES } from "./rounds.ts";

needs("bwrap", "curl", "python3", "strace");

const SEED = 1;

// A server of its own, hundreds of requests and some kills each: `npm run adversary` does all of it, for as long as one likes.
test.each(PART_NAMES)(
  "an adversary of %s gets nothing, breaks nothing and stops nothing",
  async (part) => {
    const { told, violations } = await attackOnce(part, { seed: SEED, isWhole: false });
    // How long others wait is measured by `npm run adversary`, on a machine that does nothing else.
    const counted = violations.filter(({ detail }) => !detail.includes("another tenant's p99"));
    expect({ told, violations: counted }).toEqual({ told, violations: [] });
  },
  180_000,
);
