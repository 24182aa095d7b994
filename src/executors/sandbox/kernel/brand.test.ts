import { expect, test } from "vitest";
import { createBrands, hasBrand, toBrandPattern } from "./brand.ts";

const limitsOf = (brand: string) =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax file locks            ${brand.padEnd(20)} ${brand.padEnd(20)} locks     \nMax pending signals       1                    1                    signals   \n`;

test("a brand is found in the limits of a process, and no other", () => {
  const brands = createBrands();
  const [first, second] = [brands.next(), brands.next()];

  expect(hasBrand(limitsOf(first), first)).toBe(true);
  expect(hasBrand(limitsOf(first), second)).toBe(false);
  expect(hasBrand(limitsOf("unlimited"), first)).toBe(false);
  expect(hasBrand("", first)).toBe(false);
});

test("the pattern fits every brand of a process, and none of another", () => {
  const [ours, others] = [createBrands(), createBrands()];
  const pattern = new RegExp(toBrandPattern(ours.prefix), "m");

  expect(pattern.test(limitsOf(ours.next()))).toBe(true);
  expect(pattern.test(limitsOf(others.next()))).toBe(false);
  expect(pattern.test(limitsOf("unlimited"))).toBe(false);
});
