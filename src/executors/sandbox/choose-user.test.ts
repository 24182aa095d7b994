import { expect, test } from "vitest";
import { pickUser } from "./launch.ts";

test("the first machine's own ids leave room for users that nobody has", () => {
  const user = pickUser("         0          0 4294967295\n") ?? 0;

  expect(user).toBeGreaterThanOrEqual(0x70_00_00_00);
  expect(user).toBeLessThan(0x7f_00_00_00);
});

test("two programs get two users", () => {
  const users = Array.from({ length: 50 }, () => pickUser("0 0 4294967295"));

  expect(new Set(users).size).toBe(50);
});

test("a container with 65,536 ids of its own has some to spare", () => {
  const user = pickUser("         0     100000      65536\n") ?? 0;

  expect(user).toBeGreaterThanOrEqual(61_184);
  expect(user).toBeLessThan(65_534);
});

test.each(["", "0 1000 1\n", "0 0 100\n1000 1000 1"])("with the ids %j there is none to spare", (uidMap) => {
  expect(pickUser(uidMap)).toBeUndefined();
});
