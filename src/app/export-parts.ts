import { findChromium } from "../config/find-chromium.ts";
import type { Config } from "../config/load-config.ts";
import type { Executor } from "../ports/executor.ts";

interface ExportPartsOptions {
  readonly config: Config;
  mask(text: string): string;
}

/** What writes outputs to files, each made when it is first needed and shared by all runs of the process. */
export class ExportParts {
  readonly #options: ExportPartsOptions;
  #csv: Promise<Executor> | undefined;
  #report: Promise<Executor> | undefined;

  constructor(options: ExportPartsOptions) {
    this.#options = options;
  }

  /** One for all: additions to one file wait for each other in it. */
  csv(): Promise<Executor> {
    this.#csv ??= import("../executors/exports/csv-executor.ts").then(({ createCsvExecutor }) =>
      createCsvExecutor({ mask: this.#options.mask }),
    );
    return this.#csv;
  }

  report(): Promise<Executor> {
    this.#report ??= import("../executors/exports/report-executor.ts").then(({ createReportExecutor }) => {
      const { config, mask } = this.#options;
      return createReportExecutor({ mask, chromium: () => findChromium(config) });
    });
    return this.#report;
  }
}
