import type { AnyWorkflow } from "../dialects/typescript/workflow.ts";
import type { CompiledDefinition } from "../hosts/compiled-definition.ts";
import { checkPrograms, compileProgram, findIn } from "../operations/definitions/program-file.ts";
import type { RegisteredDefinition } from "../operations/definitions/registry.ts";
import type { StepFunction, StepFunctions } from "../ports/step-functions.ts";

/** The workflows of this program, by name, and the functions of their steps. One that comes again takes the place of the one before. */
export class Programs implements StepFunctions {
  readonly #workflows = new Map<string, { readonly workflow: AnyWorkflow; readonly definition: CompiledDefinition }>();
  #list: readonly RegisteredDefinition[] = [];
  #added = Promise.withResolvers<void>();

  async add(workflows: readonly AnyWorkflow[]): Promise<void> {
    await checkPrograms(workflows);
    for (const workflow of workflows)
      this.#workflows.set(workflow.name, { workflow, definition: compileProgram(workflow) });
    this.#list = [...this.#workflows].map(([name, { definition }]) => ({
      name,
      file: `program:${name}`,
      report: { definition, problems: [] },
    }));
    this.#added.resolve();
    this.#added = Promise.withResolvers();
  }

  definitionOf({ name }: { readonly name: string }): CompiledDefinition | undefined {
    return this.#workflows.get(name)?.definition;
  }

  list(): readonly RegisteredDefinition[] {
    return this.#list;
  }

  find(asked: Parameters<StepFunctions["find"]>[0]): StepFunction | undefined {
    for (const { workflow } of this.#workflows.values()) {
      const does = findIn(workflow.functions)(asked);
      if (does !== undefined) return does;
    }
    return undefined;
  }

  versionOf(key: string): number | undefined {
    for (const { workflow } of this.#workflows.values()) {
      const found = workflow.functions.get(key);
      if (found !== undefined) return found.version;
    }
    return undefined;
  }

  changed(): Promise<void> {
    return this.#added.promise;
  }
}
