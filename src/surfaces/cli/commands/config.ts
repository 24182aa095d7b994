import type { OpenApplication } from "../../../operations/application/application.ts";
import { showConfig } from "../../../operations/service/show-config.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";

export interface ConfigOptions extends CommonOptions {
  readonly origin?: true;
}

/** `pawl config`: every setting, secrets masked. */
export async function config(app: OpenApplication, options: ConfigOptions): Promise<number> {
  const settings = showConfig(app.config);
  if (formatOf(options) !== "text") {
    printEnvelope(settings);
    return 0;
  }
  for (const { setting, value, origin } of settings) {
    const shown = value === null ? "(not set)" : String(value);
    print(
      options.origin === true
        ? `${setting.padEnd(30)} ${shown.padEnd(24)} ${origin}`
        : `${setting.padEnd(30)} ${shown}`,
    );
  }
  return 0;
}
