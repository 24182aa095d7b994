import { readFile } from "node:fs/promises";
import { Argument, type Command } from "commander";
import { looksLikeFile } from "../../../operations/definitions/looks-like-file.ts";
import type { ApiWanted } from "../../../operations/templates/lay-out-api.ts";
import type { CommonOptions, OpenApp } from "../cli-context.ts";
import type { DevOptions } from "../commands/dev.ts";
import type { GraphOptions } from "../commands/graph.ts";
import type { TestOptions } from "../commands/test.ts";
import { print } from "../print.ts";
import { toOpenOptions } from "../with-app.ts";
import { collect, withCommon } from "./common-options.ts";
import { toPort } from "./option-values.ts";
import type { Perform } from "./perform.ts";

interface InitOptions {
  readonly list?: true;
  readonly json?: true;
}

/** `pawl init`: templates and examples to begin with. */
export function addInit(program: Command, exitWith: (code: number) => void): void {
  program
    .command("init")
    .description(
      "begin with a template, a project in TypeScript (`ts`), examples of terminal workflows (`terminal`), or the operations of an OpenAPI document (its file); nothing that is there is touched",
    )
    .argument("[template]", "without one: list them")
    .argument(
      "[dir]",
      "the folder for it; default: named after the template, for `terminal` the current one, for a document `workflows`",
    )
    .option("--server <url>", "where the API is; default: where its document says")
    .option("--only <operation>", "of an API: the id of an operation, or `GET /path`; again for more", collect)
    .option("--list", "list the templates")
    .option("--json", "answer with one JSON envelope")
    .action(async (template: string | undefined, dir: string | undefined, options: ApiWanted & InitOptions) => {
      const { initApi, initProject, initTemplate, initTerminal, listTemplatesCommand } = await import(
        "../commands/init.ts"
      );
      if (template === undefined || options.list === true) exitWith(await listTemplatesCommand(options));
      else if (template === "terminal") exitWith(await initTerminal(dir ?? ".", options));
      else if (looksLikeFile(template)) exitWith(await initApi(template, dir ?? "workflows", options));
      else if (template === "ts") exitWith(await initProject(dir ?? template, options));
      else exitWith(await initTemplate(template, dir ?? template, options));
    });
}

/** Verbs over definitions that are files: `validate`, `graph`. */
export function addDefinitions(program: Command, perform: Perform): void {
  const validating = () => import("../commands/validate.ts");
  withCommon(program.command("validate").description("show every problem of definitions"))
    .argument("<file...>")
    .action(async (files: string[], options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await validating()).validate(files, (await validating()).checkHere(app), options),
        async (parts) => (await validating()).validate(files, (await validating()).checkThere(parts), options),
      );
    });
  const graphing = () => import("../commands/graph.ts");
  withCommon(program.command("graph").description("show what a workflow does, in which order"))
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .option("--mermaid", "as a Mermaid diagram")
    .action(async (workflow: string, options: GraphOptions) => {
      await perform(
        options,
        async (app) => (await graphing()).graph(await (await graphing()).explainHere(app, workflow), options),
        async (parts) => (await graphing()).graph(await (await graphing()).explainThere(parts, workflow), options),
      );
    });
}

/** `pawl dev`, which opens the application again whenever its settings change. */
export function addDev(program: Command, openApp: OpenApp, exitWith: (code: number) => void): void {
  program
    .command("dev")
    .description("serve while you work on the application: settings are read again too")
    .option("--app <dir>", "the application", ".")
    .option("--data <dir>", "where runs are kept (default: .pawl in the application)")
    .option("--lenient", "take likely misspellings in definitions as they are written, with a warning")
    .option("--host <address>", "where to listen: 127.0.0.1, localhost or ::1")
    .option("--port <n>", "0 picks a free one", toPort)
    .option("--web", "let people watch terminals in a browser (terminal.web_enabled)")
    .option(
      "--restate",
      "have a Restate server drive the runs, which is started with it (npm: @restatedev/restate-server)",
    )
    .action(async (options: DevOptions) => {
      const [{ dev }, { reportError }] = await Promise.all([
        import("../commands/dev.ts"),
        import("../report-error.ts"),
      ]);
      try {
        exitWith(await dev((voice, given) => openApp(toOpenOptions({ ...options, ...given }, voice)), options));
      } catch (error) {
        exitWith(reportError(error, "text"));
      }
    });
}

export function addTest(program: Command, openApp: OpenApp, exitWith: (code: number) => void): void {
  program
    .command("test")
    .description(
      "run tests of workflows, each in a world of its own: FILE.test.yaml beside a workflow says what must hold",
    )
    .argument("[file...]", "default: all *.test.yaml of the application")
    .option("--app <dir>", "the application", ".")
    .option("--only <text>", "cases whose name has it")
    .option("--kill", "also go on with each case after a death of the process between any two of its events")
    .option("--junit <file>", "write what holds as JUnit XML")
    .option("--lenient", "take likely misspellings in definitions as they are written, with a warning")
    .option("--json", "answer with one JSON envelope")
    .action(async (files: string[], options: TestOptions) => {
      const { reportError } = await import("../report-error.ts");
      try {
        exitWith(await (await import("../commands/test.ts")).test(files, openApp, options));
      } catch (error) {
        exitWith(reportError(error, options.json === true ? "json" : "text"));
      }
    });
}

export function addCompletion(program: Command, exitWith: (code: number) => void): void {
  program
    .command("completion")
    .description("print what completes verbs, options and names in a shell: source <(pawl completion bash)")
    .addArgument(new Argument("<shell>", "whose").choices(["bash", "zsh", "fish"]))
    .action(async (shell: string) => {
      print(await readFile(new URL(`../../../../bin/completion/pawl.${shell}`, import.meta.url), "utf8"));
      exitWith(0);
    });
}
