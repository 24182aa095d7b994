import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Input, readTemplate, renderTemplate, TemplateError } from "./jinja.ts";

/** A template, and what the real Jinja2 made of it: see fixtures/generate.py. */
interface Case {
  readonly topic: string;
  readonly template: string;
  readonly context?: { readonly [name: string]: Input };
  readonly text?: string;
  readonly error?: "syntax" | "undefined" | "other";
  readonly line?: number;
}

const file = new URL("../fixtures/expected.json", import.meta.url);
const cases: readonly Case[] = JSON.parse(readFileSync(file, "utf8"), (_, value: unknown) =>
  typeof value === "string" && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
);

function render({ template, topic, context = {} }: Case): Pick<Case, "text" | "error" | "line"> {
  const options = { isStrict: topic === "strict", steps: 1_000_000, maxLength: 1_000_000, random: Math.random };
  try {
    return { text: renderTemplate(readTemplate(template), context, options) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const kind = error.kind === "syntax" || error.kind === "undefined" ? error.kind : "other";
    return { error: kind, line: error.toFault(template).line };
  }
}

describe.each([...new Set(cases.map(({ topic }) => topic))])("as Jinja2 renders it: %s", (topic) => {
  for (const each of cases.filter((other) => other.topic === topic)) {
    const { text, error, line } = each;
    test(each.template.slice(0, 120), () =>
      expect(render(each)).toEqual(text === undefined ? { error, line: line ?? expect.anything() } : { text }),
    );
  }
});
