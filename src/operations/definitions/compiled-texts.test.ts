import { expect, test } from "vitest";
import { CompiledTexts } from "./compiled-texts.ts";

const textOf = (name: string) => `name: ${name}\nsteps:\n  - {id: a, prompt: Hello.}\n`;

test("a text is compiled once, also for those who send it at the same moment", async () => {
  const texts = new CompiledTexts();
  const [one, two] = await Promise.all([texts.report(textOf("a"), {}), texts.report(textOf("a"), {})]);
  expect(two).toBe(one);
  expect(await texts.report(textOf("a"), {})).toBe(one);
  expect(one.definition?.graph.name).toBe("a");
});

test("what holds for a text beside itself makes it another one", async () => {
  const texts = new CompiledTexts();
  const one = await texts.report(textOf("a"), { source: "a" });
  expect(await texts.report(textOf("a"), { source: "b" })).not.toBe(one);
  expect(await texts.report(textOf("b"), { source: "a" })).not.toBe(one);
});

test("what is wrong is looked at again, and says the same", async () => {
  const texts = new CompiledTexts();
  const one = await texts.report("name: a\nsteps: 5\n", {});
  const two = await texts.report("name: a\nsteps: 5\n", {});
  expect(one.definition).toBeUndefined();
  expect(two).not.toBe(one);
  expect(two.problems).toEqual(one.problems);
});

test("only the newest texts are kept", async () => {
  const texts = new CompiledTexts();
  const first = await texts.report(textOf("first"), {});
  for (let n = 0; n < 200; n += 1) await texts.report(textOf(`n${n}`), {});
  const last = await texts.report(textOf("n199"), {});
  expect(await texts.report(textOf("n199"), {})).toBe(last);
  expect(await texts.report(textOf("first"), {})).not.toBe(first);
});
