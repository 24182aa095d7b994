import type { ApiError, OutputOf } from "pawl/client";
import { useEffect, useState } from "react";
import { useServer } from "../../data/server.tsx";

/** What the validator says, place by place. */
export interface DefinitionProblem {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly remedy?: string;
  readonly place?: {
    readonly line: number;
    readonly column: number;
    readonly endLine?: number;
    readonly endColumn?: number;
  };
}

type Answer = OutputOf<"POST /workflows/validate">;

interface Validation {
  /** The text that was looked at: what has been typed since is not in it. */
  readonly text: string;
  readonly isValid: boolean;
  readonly problems: readonly DefinitionProblem[];
  readonly workflows: Answer["workflows"];
}

/** The shape is that of every answer about definitions; the schemas of the routes leave it open. */
export function toProblems(problems: Answer["problems"]): readonly DefinitionProblem[] {
  return problems as unknown as readonly DefinitionProblem[];
}

/** Typing pauses for so long before the validator is asked. */
const PAUSE_MS = 250;

/** The validator's word on a text, asked for again when the typing pauses. */
export function useValidation(text: string): { readonly validation?: Validation; readonly error?: ApiError } {
  const { client } = useServer();
  const [state, setState] = useState<{ readonly validation?: Validation; readonly error?: ApiError }>({});
  useEffect(() => {
    if (text.trim() === "") return setState({});
    let isStale = false;
    const timer = setTimeout(() => {
      client.call("POST /workflows/validate", { text, graph: true }).then(
        ({ valid, problems, workflows }) => {
          if (isStale) return;
          setState({ validation: { text, isValid: valid, problems: toProblems(problems), workflows } });
        },
        (error: ApiError) => isStale || setState(({ validation }) => ({ ...(validation && { validation }), error })),
      );
    }, PAUSE_MS);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [text, client]);
  return state;
}
