import { useCall } from "../data/use-call.ts";
import { Choice } from "./fields.tsx";

interface WorkflowChoiceProps {
  readonly value: string;
  readonly onPick: (name: string) => void;
}

/** A workflow by name, to filter by; empty means every workflow. One that is not there any more can still be meant. */
export function WorkflowChoice({ value, onPick }: WorkflowChoiceProps) {
  const { data } = useCall("GET /workflows", {});
  const names = [...new Set([...(value === "" ? [] : [value]), ...(data?.items.map(({ name }) => name) ?? [])])];
  return (
    <div className="w-40">
      <Choice
        label="Workflow"
        hidesLabel
        value={value}
        choices={[["", "every workflow"], ...names.map((name) => [name, name] as const)]}
        onPick={onPick}
      />
    </div>
  );
}
