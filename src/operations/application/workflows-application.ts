import type { Application } from "./application.ts";

/** For who finds and keeps definitions. */
export type WorkflowsApplication = Pick<
  Application,
  "appDir" | "compiledTexts" | "config" | "grant" | "library" | "service" | "tenantId" | "workflowLibrary"
>;
