import type { OpenApplication } from "./application.ts";

/** What operations on saved workflows need. */
export type LibraryApplication = Pick<OpenApplication, "workflowLibrary" | "libraryEditor">;
