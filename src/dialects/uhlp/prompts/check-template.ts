import { readTemplateFault, type TemplateFault } from "../../../core/errors/template-fault.ts";

/** The engine recurses with every operator, and a stack that overflows leaves it broken for the rest of the process. */
const LONGEST_TAG = 4_000;
const MOST_BRANCHES = 500;

/** Finds the first syntax error of a Jinja template; nothing is rendered. Loads the engine when first asked. */
export async function findTemplateFault(template: string): Promise<TemplateFault | undefined> {
  const tooComplex = findTooComplex(template);
  if (tooComplex !== undefined) return tooComplex;
  const { Environment } = await import("minijinja-js");
  const engine = new Environment();
  // Without it the error does not tell the column.
  engine.debug = true;
  try {
    engine.addTemplate("prompt", template);
    return undefined;
  } catch (error) {
    // Its own breakdown has another name and says nothing about the template. Whoever renders it has a thread for that.
    return error instanceof Error && error.name === "Error" ? readTemplateFault(error.message) : undefined;
  }
}

function findTooComplex(template: string): TemplateFault | undefined {
  for (const { index, 0: tag } of template.matchAll(/\{[{%](?:(?![%}]\})[\s\S])*/g)) {
    const reason = `a tag is longer than ${LONGEST_TAG} characters`;
    if (tag.length > LONGEST_TAG) return { reason, ...placeOf(template, index) };
  }
  const branch = [...template.matchAll(/\{%[-+]?\s*elif\b/g)][MOST_BRANCHES];
  if (branch === undefined) return undefined;
  return { reason: `it has more than ${MOST_BRANCHES} \`elif\``, ...placeOf(template, branch.index) };
}

function placeOf(template: string, offset: number): Required<Omit<TemplateFault, "reason">> {
  const lines = template.slice(0, offset).split("\n");
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, length: 2 };
}
