/** The names that an expression may use at its place. */
export interface ExpressionScope {
  /** Ids of the steps that can be seen from here. */
  readonly steps: ReadonlySet<string>;
  /** Loop variables by name; `name` is the id of the step that loops. */
  readonly locals: ReadonlyMap<string, LoopVariable>;
  /** `step.output`: in conditions and `outputMapping`. */
  readonly allowsOutput: boolean;
  /** `error`: inside of `catch`. */
  readonly allowsError: boolean;
  readonly workflowId: string;
}

interface LoopVariable {
  readonly root: "item" | "index";
  readonly name: string;
}
