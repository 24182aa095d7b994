import { expect, test } from "vitest";
import { EVERYTHING } from "../../core/trust/grant.ts";
import { CompiledTexts } from "./compiled-texts.ts";

const textOf = (name: string) => `name: ${name}\nsteps:\n  - {id: a, prompt: Hello.}\n`;

test("a text is compiled once, also for those who send it at the same moment", async () => {
  const texts = new CompiledTexts();
  const [one, two] = await Promise.all([
    texts.report(textOf("a"), { grant: EVERYTHING }),
    texts.report(textOf("a"), { grant: EVERYTHING }),
  ]);
  expect(two).toBe(one);
  expect(await texts.report(textOf("a"), { grant: EVERYTHING })).toBe(one);
  expect(one.definition?.graph.name).toBe("a");
});

test("what holds for a text beside itself makes it another one", async () => {
  const texts = new CompiledTexts();
  const one = await texts.report(textOf("a"), { grant: EVERYTHING, source: "a" });
  expect(await texts.report(textOf("a"), { grant: EVERYTHING, source: "b" })).not.toBe(one);
  expect(await texts.report(textOf("b"), { grant: EVERYTHING, source: "a" })).not.toBe(one);
});

test("what is wrong is looked at again, and says the same", async () => {
  const texts = new CompiledTexts();
  const one = await texts.report("name: a\nsteps: 5\n", { grant: EVERYTHING });
  const two = await texts.report("name: a\nsteps: 5\n", { grant: EVERYTHING });
  expect(one.definition).toBeUndefined();
  expect(two).not.toBe(one);
  expect(two.problems).toEqual(one.problems);
});

test("only the newest texts are kept", async () => {
  const texts = new CompiledTexts();
  const first = await texts.report(textOf("first"), { grant: EVERYTHING });
  for (let n = 0; n < 200; n += 1) await texts.report(textOf(`n${n}`), { grant: EVERYTHING });
  const last = await texts.report(textOf("n199"), { grant: EVERYTHING });
  expect(await texts.report(textOf("n199"), { grant: EVERYTHING })).toBe(last);
  expect(await texts.report(textOf("first"), { grant: EVERYTHING })).not.toBe(first);
});
