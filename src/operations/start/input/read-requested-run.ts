import { basename, extname } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { traitsOf } from "../../../core/graph/dialects.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { ReferredDefinition } from "../../definitions/find-definition.ts";
import { readRequestFile } from "./read-request-file.ts";
import { toRequestInput } from "./to-run-input.ts";

interface RequestedRun {
  readonly requestFile: string;
  readonly inputPairs: readonly string[];
  readonly inputFile: string | undefined;
  readonly folder: string;
}

/** The input in a file with a whole request, and the step that it asks to start at. Throws `USAGE` where it asks for other work. */
export async function readRequestedRun(
  found: ReferredDefinition,
  requested: RequestedRun,
): Promise<{ readonly input: JsonObject; readonly startAt?: string }> {
  const { requestFile, inputPairs, inputFile, folder } = requested;
  const { graph } = found.definition;
  if (traitsOf(graph).input !== "request") {
    throw new PawlError("USAGE", {
      message: `\`--request\` belongs to UHLP workflows; "${graph.name}" is a ${graph.dialect} workflow.`,
      remedy: "Give the input with `-i key=value` or `--input FILE.json`.",
    });
  }
  if (inputPairs.length > 0 || inputFile !== undefined) {
    throw new PawlError("USAGE", {
      message: "`--request` is the whole input: it takes neither `-i` nor `--input` beside it.",
      remedy: "Leave one of them out.",
    });
  }
  const request = await readRequestFile({ file: requestFile, folder, workflowId: graph.name });
  const { work, requestId, requestData, context } = request;
  if (work.kind !== "workflow" || !isNameOf(work.workflowId, found)) {
    const asks = work.kind === "workflow" ? `the workflow "${work.workflowId}"` : `a ${work.kind.toUpperCase()} task`;
    throw new PawlError("USAGE", {
      message: `${requestFile} asks for ${asks}, and the command for "${graph.name}".`,
      remedy: "Name the same workflow in both.",
    });
  }
  const input = await toRequestInput(
    { ...(requestId === undefined ? {} : { requestId }), requestData, context },
    graph,
  );
  return { input, ...(work.startAt === undefined ? {} : { startAt: work.startAt }) };
}

function isNameOf(name: string, { definition, file }: ReferredDefinition): boolean {
  return name === definition.graph.name || (file !== undefined && name === basename(file, extname(file)));
}
