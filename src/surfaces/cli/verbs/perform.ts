import type { OpenApplication } from "../../../operations/application/application.ts";
import type { CommonOptions } from "../cli-context.ts";
import type { RemoteCommand } from "../remote/remote-parts.ts";
import type { Voice } from "../voice.ts";

/** What a verb does with the application that the options name. */
export type LocalCommand = (app: OpenApplication, voice: Voice) => Promise<number>;

/**
 * Does what a verb does: on this machine with an application that is opened and closed, or by a server. A verb without a
 * second form works on this machine only.
 */
export type Perform = <Options extends CommonOptions>(
  options: Options,
  local: LocalCommand,
  remote?: RemoteCommand,
) => Promise<void>;
