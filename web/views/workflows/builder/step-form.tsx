import { useEffect, useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { Choice, TextField } from "../../../parts/fields.tsx";
import type { DefinitionSchema } from "../editor/definition-schema.ts";
import type { Builder, BuiltStep } from "./builder.ts";
import { removeAt, renameStep, setAt } from "./edit-text.ts";
import { FieldInput } from "./field-input.tsx";
import { fieldsAt, type StepField } from "./fields-of-step.ts";
import { LinksField } from "./links-field.tsx";

interface StepFormProps {
  readonly text: string;
  readonly builder: Builder;
  readonly step: BuiltStep;
  readonly steps: readonly BuiltStep[];
  readonly schema: DefinitionSchema | undefined;
  readonly onText: (text: string) => void;
  /** The step has another name now; undefined: it is gone. */
  readonly onSelect: (id: string | undefined) => void;
}

/** The fields of a step. Each change is one in the text, which keeps everything else as it is. */
export function StepForm({ text, builder, step, steps, schema, onText, onSelect }: StepFormProps) {
  const [added, setAdded] = useState<readonly string[]>([]);
  const known = fieldsAt(schema, builder.schemaPath, step.fields).filter(({ name }) => !builder.hidden.includes(name));
  const isShown = (name: string, isRequired: boolean) =>
    isRequired || name in step.fields || builder.usual.includes(name) || added.includes(name);
  const rank = ({ name, isRequired }: StepField) => (isRequired ? 0 : name in step.fields ? 1 : 2);
  const shown = known.filter(({ name, isRequired }) => isShown(name, isRequired)).toSorted((a, b) => rank(a) - rank(b));
  const rest = known.filter((field) => !shown.includes(field));
  const unknown = Object.keys(step.fields).filter(
    (name) => !builder.hidden.includes(name) && !known.some((field) => field.name === name),
  );
  const set = (name: string, value: unknown) => {
    const path = [...step.path, name];
    onText(value === undefined ? removeAt(text, path) : setAt(text, path, value));
  };
  return (
    <section aria-label={`Step ${step.id}`} className="grid gap-2.5 p-3">
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <StepName
            id={step.id}
            isTaken={(id) => steps.some((other) => other.id === id)}
            onName={(id) => {
              onText(renameStep(text, step.id, id));
              onSelect(id);
            }}
          />
        </div>
        <Button
          kind="danger"
          disabled={steps.length === 1}
          onClick={() => {
            const linked = steps.filter((other) => other.id !== step.id);
            const without = linked.reduceRight((before, other) => {
              const links = builder.readLinks(other);
              const left = links.filter(({ to }) => to !== step.id);
              return left.length === links.length ? before : builder.writeLinks(before, other, left);
            }, text);
            onText(removeAt(without, step.path));
            onSelect(undefined);
          }}
        >
          Remove
        </Button>
      </div>
      <LinksField
        builder={builder}
        step={step}
        others={steps.filter(({ id }) => id !== step.id)}
        onChange={(links) => onText(builder.writeLinks(text, step, links))}
      />
      {shown.map((field) => (
        <FieldInput
          key={`${step.id} ${field.name}`}
          field={field}
          value={step.fields[field.name]}
          onChange={(value) => set(field.name, value)}
        />
      ))}
      {unknown.length > 0 && <p className="text-xs text-soft">In the text beside: {unknown.join(", ")}.</p>}
      {rest.length > 0 && (
        <Choice
          label="Another field"
          value=""
          choices={[["", "choose …"], ...rest.map(({ name }) => [name, name] as const)]}
          onPick={(name) => name !== "" && setAdded([...added, name])}
        />
      )}
    </section>
  );
}

interface StepNameProps {
  readonly id: string;
  readonly isTaken: (id: string) => boolean;
  readonly onName: (id: string) => void;
}

/** Takes effect when it is left, for others name the step by it. */
function StepName({ id, isTaken, onName }: StepNameProps) {
  const [draft, setDraft] = useState(id);
  useEffect(() => setDraft(id), [id]);
  const isNew = draft !== id;
  const problem = !isNew
    ? undefined
    : isTaken(draft)
      ? "Another step has this name."
      : /^[A-Za-z_][\w-]*$/.test(draft)
        ? undefined
        : "Letters, digits, _ and -, a letter first.";
  const take = () => {
    if (isNew && problem === undefined) onName(draft);
  };
  return (
    <TextField
      label="Name of the step"
      value={draft}
      error={problem}
      onChange={({ target }) => setDraft(target.value)}
      onBlur={take}
      onKeyDown={({ key }) => key === "Enter" && take()}
    />
  );
}
