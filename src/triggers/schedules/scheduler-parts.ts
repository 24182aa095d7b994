import type { AppHost, Application } from "../../operations/application/application.ts";
import type { RequestRunner } from "../../operations/requests/request-runner.ts";

export interface SchedulerParts {
  readonly app: Application;
  readonly host: Pick<AppHost, "watch" | "cancelRun">;
  readonly runner: Pick<RequestRunner, "start">;
  /** A line for people. */
  failed(workflow: string, error: unknown): void;
  onDefect(error: unknown): void;
}
