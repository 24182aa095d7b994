import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { rounds } from "../../../../test/properties/rounds.ts";
import { ROOT } from "../../../../test/support/fixtures.ts";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { EVERYTHING, SENT } from "../../../core/trust/grant.ts";
import { validationSchema } from "../workflow-schemas.ts";
import { describeWhole } from "./describe-whole.ts";
import { reportOnSent, validateSent } from "./report-on-sent.ts";
import { checkWholeText, reportOnText } from "./report-on-text.ts";

const FIXTURES = ["sandcastle", "uhlp", "agents"].flatMap((dialect) =>
  ["valid", "broken"].flatMap((kind) =>
    readdirSync(`${ROOT}test/fixtures/${dialect}/${kind}`)
      .filter((name) => /\.(yaml|json)$/.test(name) && !/\.(graphs?|problems)\.json$/.test(name))
      .map((name) => `${dialect}/${kind}/${name}`),
  ),
);

/** Too long for this thread. Space at the end means nothing. */
const lengthen = (text: string) => text + "\n".repeat(3_000);

test("there are texts of three dialects to compare", () => expect(FIXTURES.length).toBeGreaterThan(100));

/** In `npm test` some of them: each takes three threads' work. */
const SOME = FIXTURES.filter((_, index) => index % Math.ceil(6 / rounds(1)) === 0);

test.each(SOME)("a long text is reported on in a thread as it is without one: %s", async (name) => {
  const text = lengthen(readFileSync(`${ROOT}test/fixtures/${name}`, "utf8"));
  const ours = { grant: EVERYTHING, folders: [], isLenient: true };
  expect(await reportOnSent(text, ours)).toEqual(await reportOnText(text, ours));
  const sent = { grant: SENT, folders: [] };
  const { validation, definitions } = await validateSent(text, sent, true);
  const whole = await checkWholeText(text, sent);
  expect(validation).toEqual(describeWhole(whole, { withGraph: true }));
  expect(definitions).toEqual(whole.definitions);
  expect(z.strictObject(validationSchema.shape).parse(validation)).toEqual(validation);
});

test("an integer beyond 2^53 and a large double come back from the thread as they are", async () => {
  const value = '{"a": 12345678901234567890, "b": 1e300, "c": "\\u0000"}';
  const text = lengthen(`{"name": "x", "steps": [{"id": "a", "prompt": "x", "default_output": ${value}}]}`);
  const origin = { grant: SENT, folders: [] };
  expect(await reportOnSent(text, origin)).toEqual(await reportOnText(text, origin));
});

const many = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i));

function chained(count: number, dependsOn: (index: number) => readonly number[]): string {
  const steps = many(count, (i) => ({ id: `s${i}`, prompt: "x", depends_on: dependsOn(i).map((each) => `s${each}`) }));
  return JSON.stringify({ name: "x", steps });
}

const HOSTILE: readonly (readonly [string, string, string])[] = [
  ["400 steps that depend on all before", chained(400, (i) => many(i, (each) => each)), "DEFINITION_TOO_COSTLY"],
  ["2,000 steps in a circle", chained(2_000, (i) => [(i + 1) % 2_000]), "TOO_MANY_STEPS"],
  ["20,000 unknown keys", `name: x\nsteps: []\n${many(20_000, (i) => `k${i}: 1`).join("\n")}`, "KEY_MISSING"],
  ["20,000 brackets", `name: x\nsteps: ${"[".repeat(20_000)}${"]".repeat(20_000)}`, "YAML_SYNTAX"],
];

const MAX_CPU_MS = 250;

test.each(HOSTILE)("%s keep no other request waiting", { timeout: 30_000 }, async (_, text, said) => {
  const origin = { grant: SENT, folders: [] };
  // A thread takes its time to start, which is not this text's.
  await reportOnSent(lengthen("name: x"), origin);
  const validate = async (sent: string, from: typeof origin) => (await validateSent(sent, from)).validation;
  for (const ask of [reportOnSent, validate]) {
    // What this thread has worked, however busy the machine is.
    const before = process.threadCpuUsage();
    const codes = await ask(text, origin).then(
      ({ problems }) => problems.map(({ code }) => String(code)),
      (error: unknown) => [isPawlError(error) ? error.code : String(error)],
    );
    const { user, system } = process.threadCpuUsage(before);
    expect(codes).toContain(said);
    expect((user + system) / 1_000).toBeLessThan(MAX_CPU_MS);
  }
});
