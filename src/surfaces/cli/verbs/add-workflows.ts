import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { ShowWorkflowOptions, WorkflowOptions } from "../commands/workflows.ts";
import { withCommon } from "./common-options.ts";
import { toCount } from "./option-values.ts";
import { perTenant } from "./per-tenant.ts";
import type { Perform } from "./perform.ts";

/** `pawl workflows`. */
export function addWorkflows(program: Command, perform: Perform): void {
  const workflows = program.command("workflows").description("workflows that go by a name");
  const load = () => import("../commands/workflows.ts");
  const own = (command: Command) => withCommon(command).option("--tenant <id>", "those of this tenant");
  const performOwn = perTenant(perform);
  own(workflows.command("ls").description("list what can be run by its name, and the terminal library")).action(
    async (options: WorkflowOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).listWorkflowsCommand(app, options),
        async (parts) => (await import("../remote/files.ts")).listWorkflows(parts, options),
      );
    },
  );
  own(workflows.command("show").description("show a definition"))
    .argument("<name>")
    .option("--version <n>", "of one that was saved through the service", toCount)
    .action(async (name: string, options: ShowWorkflowOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).showWorkflowCommand(app, name, options),
        async (parts) => (await import("../remote/files.ts")).showWorkflow(parts, name, options),
      );
    });
  own(workflows.command("save").description("save a definition, to be run by its name; an older one stays a version"))
    .argument("<file>", "where it is; - is stdin")
    .action(async (file: string, options: WorkflowOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).saveWorkflowCommand(app, file, options),
        async (parts) => (await import("../remote/files.ts")).saveWorkflow(parts, file, options),
      );
    });
  own(workflows.command("versions").description("list the versions of a saved one, newest first"))
    .argument("<name>")
    .action(async (name: string, options: WorkflowOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).listVersionsCommand(app, name, options),
        async (parts) => (await import("../remote/files.ts")).listVersions(parts, name, options),
      );
    });
  own(workflows.command("rm").description("remove a saved one with its versions, or one of the terminal library"))
    .argument("<name>")
    .action(async (name: string, options: WorkflowOptions) => {
      await performOwn(
        options,
        async (app) => (await load()).removeWorkflowCommand(app, name, options),
        async (parts) => (await import("../remote/files.ts")).removeWorkflow(parts, name, options),
      );
    });
  withCommon(workflows.command("rename").description("give one of the terminal library another name"))
    .argument("<name>")
    .argument("<to>")
    .action(async (name: string, to: string, options: CommonOptions) => {
      await perform(options, async (app) =>
        (await import("../commands/workflows.ts")).renameWorkflow(app, { name, to }, options),
      );
    });
}
