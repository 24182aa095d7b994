import type { OpenApplication } from "../../../operations/application.ts";
import type { CommonOptions } from "../cli-context.ts";
import type { Voice } from "../voice.ts";

/** Opens the application that the options name, does what a verb does with it, and closes it. */
export type Perform = <Options extends CommonOptions>(
  options: Options,
  command: (app: OpenApplication, voice: Voice) => Promise<number>,
) => Promise<void>;
