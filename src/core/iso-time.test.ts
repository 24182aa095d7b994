import fc from "fast-check";
import { expect, test } from "vitest";
import { toIsoTime } from "./iso-time.ts";

test("a time reads as the platform writes it", () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date("0000-01-01T00:00:00Z"),
        max: new Date("9999-12-31T23:59:59.999Z"),
        noInvalidDate: true,
      }),
      (date) => {
        expect(toIsoTime(date.getTime())).toBe(date.toISOString());
      },
    ),
  );
});
