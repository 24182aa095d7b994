import type { OpenApplication } from "../../../operations/application/application.ts";
import { renderPrompt } from "../../../operations/start/render-prompt.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";

export interface RenderOptions extends CommonOptions {
  readonly i?: readonly string[];
  readonly input?: string;
}

/** `pawl prompt render`: what a model would be asked, on stdout. */
export async function renderPromptCommand(
  app: OpenApplication,
  reference: string,
  options: RenderOptions,
): Promise<number> {
  const { i = [], input } = options;
  const rendered = await renderPrompt(app, { reference, folder: process.cwd(), inputPairs: i, inputFile: input });
  if (formatOf(options) === "text") print(rendered.text);
  else printEnvelope({ prompt: rendered.text, ...rendered.settings });
  return 0;
}
