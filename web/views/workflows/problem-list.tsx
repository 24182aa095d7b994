import type { DefinitionProblem } from "./use-validation.ts";

interface ProblemListProps {
  readonly problems: readonly DefinitionProblem[];
  readonly onPick: (problem: DefinitionProblem) => void;
}

/** Everything that is wrong, with what to do about it. A click jumps to the place. */
export function ProblemList({ problems, onPick }: ProblemListProps) {
  if (problems.length === 0) return null;
  return (
    <ul aria-label="Problems" className="max-h-52 shrink-0 overflow-auto border-t border-line bg-surface">
      {problems.map((problem) => {
        const { code, severity, message, remedy, place } = problem;
        const tone = severity === "error" ? "text-bad" : "text-warn";
        return (
          <li
            key={`${code} ${place?.line} ${place?.column} ${message}`}
            className="border-b border-line last:border-b-0"
          >
            <button
              type="button"
              className="block w-full px-3 py-1.5 text-left hover:bg-raised"
              onClick={() => onPick(problem)}
            >
              <span className="flex items-baseline gap-2 text-xs">
                <span className={`font-mono font-semibold ${tone}`}>
                  <span aria-hidden="true">{severity === "error" ? "✕ " : "▲ "}</span>
                  {code}
                </span>
                {place && (
                  <span className="text-soft">
                    line {place.line}, column {place.column}
                  </span>
                )}
              </span>
              <span className="block max-h-40 overflow-auto whitespace-pre-wrap break-words">{message}</span>
              {remedy && <span className="block whitespace-pre-wrap break-words text-soft">{remedy}</span>}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
