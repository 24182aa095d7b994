import type { ProblemList } from "../problem-list.ts";
import { reportSchemaProblems } from "../schema-problems.ts";
import { toExcerpt } from "../source/printable.ts";
import { isNull, toJson, type YamlMap, type YamlNode } from "../source/yaml-node.ts";
import { mapAt } from "./node-at.ts";
import type { TerminalWorkflow } from "./workflow.ts";

/** The workflow, where its structure is the one of the schema. `dialect` may stand beside what the schema knows. */
export async function checkStructure(root: YamlMap, problems: ProblemList): Promise<TerminalWorkflow | undefined> {
  const { validateWorkflow } = await import("./workflow-validator.ts");
  const { entries: withDialect } = root;
  const entries = new Map([...withDialect].filter(([key]) => key !== "dialect"));
  const isWhole = !reportMissingValues(root, "The definition", problems);
  const hasGoodNames = checkStateNames(root, problems);
  const states = entries.get("states");
  if (!hasGoodNames && states?.value.kind === "map") {
    entries.set("states", { ...states, value: withGoodNames(states.value) });
  }
  const faulty = reportSchemaProblems(
    { ...root, entries },
    { validate: validateWorkflow, unknownKeys: "error" },
    problems,
  );
  // Checked against the schema just now.
  return isWhole && hasGoodNames && faulty.length === 0 ? (toJson(root) as unknown as TerminalWorkflow) : undefined;
}

/** What is inside these is the tool's business, and null is a value like any other there. */
const FREE = new Set(["params", "field_equals", "field_contains"]);

/** Elsewhere null is no value. True: there was one. */
function reportMissingValues(node: YamlNode, name: string, problems: ProblemList): boolean {
  if (isNull(node)) {
    problems.error({
      code: "WRONG_TYPE",
      at: node,
      message: `${name} has no value.`,
      remedy: "Add one, or remove the key.",
    });
    return true;
  }
  if (node.kind === "list") {
    return node.items.map((item) => reportMissingValues(item, `An entry of ${name}`, problems)).includes(true);
  }
  if (node.kind !== "map") return false;
  const found = [...node.entries].map(([key, { value }]) => {
    if (FREE.has(key) && !isNull(value)) return false;
    return reportMissingValues(value, `\`${toExcerpt(key)}\``, problems);
  });
  return found.includes(true);
}

const STATE_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** The schema could only say that it does not know the key. */
function checkStateNames(root: YamlMap, problems: ProblemList): boolean {
  const bad = [...(mapAt(root, "states")?.entries ?? [])].filter(([name]) => !STATE_NAME.test(name));
  if (root.entries.get("states")?.value.kind !== "map") return true;
  for (const [name, { key }] of bad) {
    problems.error({
      code: "STEP_ID_INVALID",
      at: key,
      message: `\`${toExcerpt(name)}\` cannot be the name of a state.`,
      remedy: "Use letters, digits and `_`, not beginning with a digit.",
    });
  }
  return bad.length === 0;
}

/** One good name stays at least, so that nobody is told that there are no states. */
function withGoodNames(states: YamlMap): YamlMap {
  const good = [...states.entries].filter(([name]) => STATE_NAME.test(name));
  const [bad] = good.length === 0 ? [...states.entries.values()] : [];
  return { ...states, entries: new Map(bad === undefined ? good : [["state", bad]]) };
}
