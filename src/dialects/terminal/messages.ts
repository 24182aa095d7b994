/** Messages that the requirement for `run_workflow` promises, word for word. */

/** How deeply workflows may call each other below the first. */
export const MAX_RECURSION_DEPTH = 5;

export const TOO_DEEP = `Maximum recursion depth (${MAX_RECURSION_DEPTH}) exceeded`;

/** Around the seconds. */
export const EXECUTION_TIMED_OUT = { before: "Workflow execution timeout (", after: "s) exceeded" } as const;

export const SOURCE_MISSING = "Either 'workflow_definition' or 'workflow_name' must be provided";
export const SOURCE_TWICE = "Provide either 'workflow_definition' OR 'workflow_name', not both";

export function tooManyStates(maxStates: number): string {
  return `Maximum states limit (${maxStates}) reached - possible infinite loop`;
}

export function stateTimedOut(state: string, seconds: number): string {
  return `State '${state}' timed out after ${seconds}s`;
}

export function executionTimedOut(seconds: number): string {
  return `${EXECUTION_TIMED_OUT.before}${seconds}${EXECUTION_TIMED_OUT.after}`;
}
