import { type Builder, fieldsOf } from "./builder.ts";
import { appendTo, readDefinition, removeAt, setAt } from "./edit-text.ts";

/** Steps that say what they run after. */
export const sandcastleBuilder: Builder = {
  schemaPath: ["steps", "*"],
  kinds: [
    { name: "standard", words: "asks an agent", fields: () => ({ prompt: "Say what to do." }) },
    { name: "llm", words: "asks a model once", fields: () => ({ type: "llm", prompt: "Say what to answer." }) },
    {
      name: "approval",
      words: "asks a person",
      fields: () => ({ type: "approval", approval_config: { message: "Is it good?" } }),
    },
    { name: "http", words: "sends a request", fields: () => ({ type: "http", url: "https://example.com/" }) },
    { name: "wait", words: "waits", fields: () => ({ type: "wait", duration: "10s" }) },
    {
      name: "sub_workflow",
      words: "runs another workflow",
      fields: () => ({ type: "sub_workflow", sub_workflow: { workflow: "NAME" } }),
    },
    { name: "mcp", words: "calls a tool", fields: () => ({ type: "mcp", tool: "SERVER.TOOL" }) },
    { name: "code", words: "runs a script", fields: () => ({ type: "code", script: "scripts/FILE.py#function" }) },
  ],
  hidden: ["id", "depends_on"],
  usual: ["prompt", "model", "parallel_over", "approval_config", "url", "duration", "sub_workflow", "tool", "script"],
  linksTitle: "Runs after",
  ways: [{ when: "after", words: "after" }],
  readSteps(text) {
    const steps = fieldsOf(readDefinition(text))["steps"];
    if (!Array.isArray(steps)) return [];
    return steps.map((step, index) => {
      const fields = fieldsOf(step);
      return { id: String(fields["id"] ?? index + 1), path: ["steps", index], fields };
    });
  },
  toId: (number) => `step-${number}`,
  addStep(text, { id, fields, behind }) {
    const after = behind === undefined ? {} : { depends_on: [behind.id] };
    return appendTo(text, ["steps"], { id, ...after, ...fields });
  },
  readLinks({ fields }) {
    const written = fields["depends_on"];
    const ids = Array.isArray(written) ? written : written === undefined || written === null ? [] : [written];
    return ids.map((id) => ({ when: "after", to: String(id) }));
  },
  writeLinks(text, { path }, links) {
    const at = [...path, "depends_on"];
    return links.length === 0 ? removeAt(text, at) : setAt(text, at, [...new Set(links.map(({ to }) => to))]);
  },
};
