import { expect, test } from "vitest";
import { loadDefinition } from "../load-definition.ts";

function workflow(prompt: string, more = ""): string {
  return `name: x\nsteps:\n  - id: a\n    prompt: "${prompt}"\n${more}`;
}

async function load(text: string) {
  const { graph, problems } = await loadDefinition({ text }, { hasInlineAgents: true });
  return { graph, codes: problems.map(({ code }) => code), severities: problems.map(({ severity }) => severity) };
}

test("tools that a step lists go to its agent", async () => {
  const { graph, codes } = await load(
    workflow("Hi.", '    tools: [web_fetch, files, "github.*", "shop.list_items"]\n'),
  );
  expect(codes).toEqual([]);
  expect(JSON.stringify(graph)).toContain(
    '"tools":{"op":"literal","value":["web_fetch","files","github.*","shop.list_items"]}',
  );
});

test("a tool that there is not is warned about, and a slip is an error", async () => {
  const severityOf = async (tool: string) => (await load(workflow("Hi.", `    tools: [${tool}]\n`))).severities;
  expect(await severityOf("web_fech")).toEqual(["error"]);
  expect(await severityOf("Skill")).toEqual(["warning"]);
});

test("a prompt that asks for a site is warned about where no tool could read it", async () => {
  const askings = [
    "Read https://example.com/a.",
    "Scrape {input.website}.",
    "See {steps.b.output.url}.",
    "Hi {input.name}.",
  ];
  const codes = await Promise.all(
    askings.map(
      async (prompt) => (await load(`${workflow(prompt, "    depends_on: [b]\n")}  - {id: b, prompt: Hi.}\n`)).codes,
    ),
  );
  expect(codes).toEqual([["SITE_WITHOUT_TOOL"], ["SITE_WITHOUT_TOOL"], ["SITE_WITHOUT_TOOL"], []]);
  expect((await load(workflow("Read https://example.com.", "    tools: [web_fetch]\n"))).codes).toEqual([]);
  expect((await load(`sandstorm_url: http://x\n${workflow("Read https://example.com.")}`)).codes).toEqual([]);
});
