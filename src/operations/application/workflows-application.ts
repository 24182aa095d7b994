import type { Application } from "./application.ts";

/** For who finds and keeps definitions. */
export type WorkflowsApplication = Pick<
  Application,
  "appDir" | "compiledTexts" | "config" | "library" | "service" | "tenantId" | "workflowLibrary"
>;
