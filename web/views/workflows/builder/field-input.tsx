import { writeExact } from "pawl/client";
import { useEffect, useState } from "react";
import { Choice, TextArea, TextField } from "../../../parts/fields.tsx";
import { JsonField } from "../../../parts/schema-form.tsx";
import type { StepField } from "./fields-of-step.ts";

interface FieldInputProps {
  readonly field: StepField;
  readonly value: unknown;
  /** Undefined: the field goes. */
  readonly onChange: (value: unknown) => void;
}

/** One field of a step, asked for as its schema says. */
export function FieldInput({ field, value, onChange }: FieldInputProps) {
  const { name, description, types, choices, isRequired } = field;
  const label = `${name}${isRequired ? " *" : ""}`;
  if (choices.length > 0 && (value === undefined || typeof value === "string")) {
    return (
      <Choice
        label={label}
        note={description}
        value={value ?? ""}
        choices={[["", "–"], ...choices.map((each) => [each, each] as const)]}
        onPick={(picked) => onChange(picked === "" ? undefined : picked)}
      />
    );
  }
  if (types.includes("boolean") && (value === undefined || typeof value === "boolean")) {
    return (
      <Choice
        label={label}
        note={description}
        value={value === undefined ? "" : String(value)}
        choices={[
          ["", "–"],
          ["true", "yes"],
          ["false", "no"],
        ]}
        onPick={(picked) => onChange(picked === "" ? undefined : picked === "true")}
      />
    );
  }
  const isPlain = value === undefined || typeof value === "string" || typeof value === "number";
  const wantsText = types.includes("string") || types.includes("number") || types.includes("integer");
  if (isPlain && (wantsText || value !== undefined || types.length === 0))
    return <Words label={label} field={field} value={value} onChange={onChange} />;
  return <OtherValue label={label} field={field} value={value} onChange={onChange} />;
}

const LONG = /^(?:prompt|message|system_prompt|body|description|text)$/;

/** Text and numbers, as they are typed: what is no number yet is not written. */
function Words({ label, field, value, onChange }: FieldInputProps & { readonly label: string }) {
  const written = value === undefined ? "" : String(value);
  const [draft, setDraft] = useState(written);
  useEffect(() => setDraft(written), [written]);
  const { name, description, types } = field;
  const isText = types.includes("string") || types.length === 0;
  const number = Number(draft);
  const problem = !isText && draft !== "" && !Number.isFinite(number) ? "A number is wanted." : undefined;
  const change = ({ target }: { readonly target: { readonly value: string } }) => {
    const typed = target.value;
    setDraft(typed);
    const isNumber = types.some((type) => type === "number" || type === "integer") && /^\d+(?:\.\d+)?$/.test(typed);
    if (typed === "") onChange(undefined);
    else if (isNumber) onChange(Number(typed));
    else if (isText) onChange(typed);
  };
  const Box = LONG.test(name) || written.includes("\n") || written.length > 80 ? TextArea : TextField;
  return <Box label={label} note={description} error={problem} value={draft} onChange={change} />;
}

/** As JSON. What changes it elsewhere, such as an undo in the text, is shown anew. */
function OtherValue({ label, field, value, onChange }: FieldInputProps & { readonly label: string }) {
  const written = writeExact(value);
  const [sent, setSent] = useState(written);
  const [version, setVersion] = useState(0);
  useEffect(() => {
    if (written === sent) return;
    setSent(written);
    setVersion((before) => before + 1);
  }, [written, sent]);
  return (
    <JsonField
      key={version}
      label={label}
      note={field.description}
      value={value}
      onChange={(next, problem) => {
        if (problem !== undefined) return;
        setSent(writeExact(next));
        onChange(next);
      }}
    />
  );
}
