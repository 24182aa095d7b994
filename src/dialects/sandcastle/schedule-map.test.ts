import { expect, test } from "vitest";
import { loadDefinition } from "../load-definition.ts";

const file = (schedule: string) => `name: s\nschedule: ${schedule}\nsteps: [{ id: a, prompt: "hi {input.c}" }]\n`;

test("a schedule is a text, or a map with its zone, its input and what becomes of slots", async () => {
  const whole =
    '{ cron: "0 9 * * 1", timezone: Europe/Berlin, input: { c: x }, catch_up: none, overlap: cancel_previous }';
  const { problems, graph } = await loadDefinition({ text: file(whole) });
  expect(problems).toEqual([]);
  const says = { input: { c: "x" }, catchUp: "none", overlap: "cancel_previous" };
  expect(graph?.triggers).toEqual([{ kind: "cron", schedule: "0 9 * * 1", timezone: "Europe/Berlin", says }]);
  expect(graph?.schedule).toBeUndefined();
  expect((await loadDefinition({ text: file('"0 9 * * 1"') })).graph).toMatchObject({ schedule: "0 9 * * 1" });
});

test.each([
  ['{ cron: "0 9 * *" }', "five fields"],
  ["{ timezone: UTC }", "`schedule` has no `cron`."],
  ['{ cron: "0 9 * * 1", timezone: Europe/Berl }', "There is no time zone `Europe/Berl`."],
  ['{ cron: "0 9 * * 1", overlap: cancelPrevious }', "Did you mean `cancel_previous`?"],
  ['{ cron: "0 9 * * 1", catchup: one }', "Did you mean `catch_up`?"],
])("what it cannot mean is said with its line: %s", async (schedule, said) => {
  const { problems } = await loadDefinition({ text: file(schedule) });
  expect(problems).toHaveLength(1);
  expect(JSON.stringify(problems[0])).toContain(said);
  expect(problems[0]?.place?.line).toBe(2);
});
