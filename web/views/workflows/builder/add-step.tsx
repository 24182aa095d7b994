import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Choice } from "../../../parts/fields.tsx";
import type { Builder, BuiltStep } from "./builder.ts";

interface AddStepProps {
  readonly builder: Builder;
  readonly text: string;
  readonly steps: readonly BuiltStep[];
  readonly behind: BuiltStep | undefined;
  readonly onAdd: (text: string, id: string) => void;
}

/** A new step of a kind, valid as it stands, after the one that is selected. */
export function AddStep({ builder, text, steps, behind, onAdd }: AddStepProps) {
  const [name, setName] = useState(builder.kinds[0]?.name ?? "");
  const add = () => {
    const kind = builder.kinds.find((each) => each.name === name);
    if (kind === undefined) return;
    let number = steps.length + 1;
    while (steps.some(({ id }) => id === builder.toId(number))) number += 1;
    const id = builder.toId(number);
    onAdd(builder.addStep(text, { id, fields: kind.fields(id), behind }), id);
  };
  return (
    <div className="flex items-center gap-1.5">
      <Choice
        label="What the new step does"
        hidesLabel
        value={name}
        choices={builder.kinds.map((kind) => [kind.name, kind.words] as const)}
        onPick={setName}
      />
      <Button onClick={add}>{behind === undefined ? "Add a step" : `Add a step after ${shorten(behind.id)}`}</Button>
    </div>
  );
}

function shorten(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 15)}…`;
}
