import type { FlowExplanation, GraphExplanation, StepExplanation } from "./graph-schemas.ts";

/**
 * The graph as a Mermaid flowchart. Ids of its nodes are numbers of our own and labels are escaped character by character,
 * so that nothing that stands in a definition is read as Mermaid or HTML.
 */
export function toMermaid({ flow }: GraphExplanation): string {
  const chart = new Chart();
  chart.addFlow(flow);
  return `${chart.lines.join("\n")}\n`;
}

/** How a step is drawn: its label between these. */
const SHAPES: { readonly [kind in StepExplanation["kind"]]: readonly [string, string] } = {
  task: ["[", "]"],
  flow: ["[[", "]]"],
  call: ["[[", "]]"],
  wait: ["([", "])"],
  approve: ["{{", "}}"],
  set: ["[/", "/]"],
  respond: ["[/", "/]"],
};

class Chart {
  readonly lines: string[] = ["flowchart TD"];
  #count = 0;
  #indent = "  ";

  addFlow(flow: FlowExplanation): ReadonlyMap<string, string> {
    const nodes = new Map<string, string>();
    for (const step of flow.steps) nodes.set(step.id, this.#addStep(step));
    // The fan-out that a step opens or follows.
    const domains = new Map(flow.steps.map((step) => [step.id, step.fan_out === undefined ? step.follows : step.id]));
    for (const step of flow.steps) this.#addEdges(step, nodes, domains);
    if (flow.start !== undefined)
      this.#add(`${this.#addNode("start", ["((", "))"])} --> ${nodes.get(flow.start) ?? ""}`);
    return nodes;
  }

  #addStep(step: StepExplanation): string {
    const node = this.#addNode(labelOf(step), SHAPES[step.kind]);
    this.#addInner(node, step.flow, `inside ${step.id}`, "runs");
    this.#addInner(node, step.catch, `if ${step.id} fails`, "on failure");
    this.#addInner(node, step.finally, `after ${step.id}`, "finally");
    return node;
  }

  #addInner(outer: string, flow: FlowExplanation | undefined, title: string, how: string): void {
    if (flow === undefined) return;
    const group = this.#newId();
    this.#add(`subgraph ${group}["${escapeLabel(title)}"]`);
    this.#indent += "  ";
    this.addFlow(flow);
    this.#indent = this.#indent.slice(2);
    this.#add("end");
    this.#add(`${outer} -. "${how}" .-> ${group}`);
  }

  #addEdges(
    step: StepExplanation,
    nodes: ReadonlyMap<string, string>,
    domains: ReadonlyMap<string, string | undefined>,
  ): void {
    const node = nodes.get(step.id) ?? "";
    for (const need of step.after) {
      const from = nodes.get(need);
      if (from === undefined) continue;
      const isPerItem = step.follows !== undefined && step.follows === domains.get(need);
      this.#add(isPerItem ? `${from} -- "per item" --> ${node}` : `${from} --> ${node}`);
    }
    for (const { on, when, to } of step.transitions ?? []) {
      const target = nodes.get(to) ?? this.#addNode(to, ["((", "))"]);
      const label = [on === "any" ? "" : on, when ?? ""].filter((part) => part !== "").join(": ");
      this.#add(label === "" ? `${node} --> ${target}` : `${node} -- "${escapeLabel(label)}" --> ${target}`);
    }
  }

  #addNode(label: string, [open, close]: readonly [string, string]): string {
    const id = this.#newId();
    this.#add(`${id}${open}"${escapeLabel(label)}"${close}`);
    return id;
  }

  #newId(): string {
    this.#count += 1;
    return `n${this.#count}`;
  }

  #add(line: string): void {
    this.lines.push(`${this.#indent}${line}`);
  }
}

function labelOf({ id, fan_out, follows, calls }: StepExplanation): string {
  if (fan_out !== undefined) return `${id} (for each of ${fan_out.over})`;
  if (follows !== undefined) return `${id} (per item of ${follows})`;
  return calls === undefined ? id : `${id} (calls ${calls})`;
}

const LONGEST_LABEL = 200;

/** Everything but letters, digits, blanks and harmless signs becomes Mermaid's code for the character. */
function escapeLabel(text: string): string {
  const chars = [...text];
  const short = chars.length <= LONGEST_LABEL ? chars : [...chars.slice(0, LONGEST_LABEL - 1), "…"];
  return short.map((char) => (/[\p{L}\p{N} .,:_…-]/u.test(char) ? char : toCode(char))).join("");
}

function toCode(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return /[\p{C}\p{Z}]/u.test(char) ? " " : `#${code};`;
}
