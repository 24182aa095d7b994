import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Amount, decideReservation } from "./decide-reservation.ts";

const money = fc.integer({ min: 0, max: 2_000_000 });
const amount: fc.Arbitrary<Amount> = fc.record({
  limit: money,
  used: money,
  reserved: money,
  window: fc.oneof(fc.integer({ min: 1, max: 4096 }), fc.constant(Number.POSITIVE_INFINITY)),
  seen: fc.option(money, { nil: undefined }),
  tooLittle: fc.option(money, { nil: undefined }),
  asks: fc.boolean(),
});

describe("a share of a budget", () => {
  test("is something, is more than was too little before, and leaves what is promised to others", () => {
    fc.assert(
      fc.property(amount, (given) => {
        const share = decideReservation(given);
        if (share.kind !== "reserved") return;
        const { limit, used, reserved, tooLittle = 0 } = given;
        expect(share.amount).toBeGreaterThan(tooLittle);
        expect(Number.isSafeInteger(share.amount)).toBe(true);
        expect(used + reserved + share.amount).toBeLessThanOrEqual(limit);
      }),
    );
  });

  test("is only waited for if a running attempt may leave some", () => {
    fc.assert(fc.property(amount, (given) => decideReservation(given).kind !== "hold" || given.reserved > 0));
  });

  test("that is too little again and again grows, beside others too, so that few tries find out", () => {
    const drawn = fc.record({
      limit: fc.integer({ min: 1, max: 2_000_000_000 }),
      others: fc.integer({ min: 0, max: 90 }),
    });
    fc.assert(
      fc.property(drawn, ({ limit, others }) => {
        const reserved = Math.floor((limit * others) / 100);
        let tooLittle = 1;
        for (let tries = 1; tries <= 4; tries += 1) {
          // Of what it was promised it has told nothing.
          const share = decideReservation({ limit, used: 0, reserved, window: 4096, seen: 0, tooLittle });
          if (share.kind !== "reserved") return;
          expect(share.amount).toBeGreaterThanOrEqual(Math.min(limit, 2 * tooLittle));
          tooLittle = share.amount;
        }
        expect(decideReservation({ limit, used: 0, reserved, window: 4096, seen: 0, tooLittle }).kind).not.toBe(
          "reserved",
        );
      }),
    );
  });
});
