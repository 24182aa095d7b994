import { parseExact, writeExact } from "pawl/client";
import { useState } from "react";
import { Check, Choice, TextArea, TextField } from "./fields.tsx";

/** The part of a JSON Schema that decides how a value is asked for. What it does not know is asked for as JSON. */
export interface FormSchema {
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, FormSchema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
}

interface SchemaFormProps {
  readonly schema: FormSchema | null | undefined;
  /** What is asked for beside that: names of which no more is known. */
  readonly fields?: readonly string[] | undefined;
  readonly value: Readonly<Record<string, unknown>>;
  /** `problem`: why it cannot be sent as it stands; undefined where it can. */
  readonly onChange: (value: Readonly<Record<string, unknown>>, problem: string | undefined) => void;
}

/** A form made of a schema: a field for each property, and one of JSON where there is no schema. The server checks what is sent. */
export function SchemaForm({ schema, fields = [], value, onChange }: SchemaFormProps) {
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({});
  const tell = (next: Readonly<Record<string, unknown>>, name: string, problem: string | undefined) => {
    const { [name]: _before, ...others } = problems;
    const after = problem === undefined ? others : { ...others, [name]: problem };
    setProblems(after);
    const missing = (schema?.required ?? []).filter((each) => next[each] === undefined || next[each] === "");
    const first = Object.entries(after)[0];
    onChange(
      next,
      first ? `${first[0]}: ${first[1]}` : missing.length > 0 ? `${missing.join(", ")}: missing` : undefined,
    );
  };
  const declared = schema?.properties ?? {};
  const others = fields.filter((name) => !Object.hasOwn(declared, name));
  const properties = [...Object.entries(declared), ...others.map((name) => [name, NAMED] as const)];
  if (properties.length === 0) {
    return (
      <JsonField
        label="Input"
        value={value}
        note="A JSON object."
        onChange={(next, problem) => {
          const isObject = typeof next === "object" && next !== null && !Array.isArray(next);
          if (problem === undefined && isObject) tell(next as Record<string, unknown>, "", undefined);
          else tell(value, "", problem ?? "An object is wanted.");
        }}
      />
    );
  }
  return (
    <div className="grid gap-2.5">
      {properties.map(([name, each]) => (
        <Property
          key={name}
          name={name}
          schema={each}
          isRequired={schema?.required?.includes(name) === true}
          value={value[name]}
          onChange={(next, problem) => {
            const { [name]: _before, ...others } = value;
            tell(next === undefined ? others : { ...others, [name]: next }, name, problem);
          }}
        />
      ))}
    </div>
  );
}

const NAMED: FormSchema = { type: "any", description: "The definition reads it. A text, or JSON." };

interface PropertyProps {
  readonly name: string;
  readonly schema: FormSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown, problem: string | undefined) => void;
}

function Property({ name, schema, isRequired, value, onChange }: PropertyProps) {
  const label = `${schema.title ?? name}${isRequired ? " *" : ""}`;
  const note = schema.description;
  const [type] = [schema.type].flat();
  if (schema.enum !== undefined) {
    const choices = schema.enum.map((each) => [String(each), String(each)] as const);
    return (
      <Choice
        label={label}
        note={note}
        choices={[["", "–"], ...choices]}
        value={value === undefined ? "" : String(value)}
        onPick={(picked) =>
          onChange(
            schema.enum?.find((each) => String(each) === picked),
            undefined,
          )
        }
      />
    );
  }
  if (type === "boolean")
    return <Check label={label} isOn={value === true} onChange={(isOn) => onChange(isOn, undefined)} />;
  if (type === "number" || type === "integer") {
    return (
      <TextField
        label={label}
        note={note}
        inputMode="decimal"
        defaultValue={value === undefined ? "" : String(value)}
        onChange={({ target }) => {
          const number = Number(target.value);
          if (target.value.trim() === "") onChange(undefined, undefined);
          else if (Number.isFinite(number)) onChange(number, undefined);
          else onChange(value, "A number is wanted.");
        }}
      />
    );
  }
  if (type === "string") {
    const text = typeof value === "string" ? value : "";
    const isLong = text.length > 80 || text.includes("\n");
    const Box = isLong ? TextArea : TextField;
    return (
      <Box
        label={label}
        note={note}
        value={text}
        onChange={({ target }: { target: { value: string } }) =>
          onChange(target.value === "" && !isRequired ? undefined : target.value, undefined)
        }
      />
    );
  }
  if (type === "any") return <AnyField label={label} note={note} onChange={onChange} />;
  return <JsonField label={label} note={note ?? "JSON."} value={value} onChange={onChange} />;
}

/** What is JSON is sent as that, and anything else as the text that it is. */
function AnyField({ label, note, onChange }: Omit<JsonFieldProps, "value">) {
  const [text, setText] = useState("");
  return (
    <TextArea
      label={label}
      note={note}
      rows={1}
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        const read = readJson(target.value);
        onChange("value" in read ? read.value : target.value, undefined);
      }}
    />
  );
}

interface JsonFieldProps {
  readonly label: string;
  readonly note?: string | undefined;
  readonly value: unknown;
  readonly onChange: (value: unknown, problem: string | undefined) => void;
}

/** A value as JSON text, which is kept while it is no JSON yet. */
export function JsonField({ label, note, value, onChange }: JsonFieldProps) {
  const [text, setText] = useState(() => (value === undefined ? "" : writeExact(value, 2)));
  const [problem, setProblem] = useState<string>();
  return (
    <TextArea
      label={label}
      note={note}
      error={problem}
      value={text}
      rows={Math.min(14, Math.max(3, text.split("\n").length))}
      onChange={({ target }) => {
        setText(target.value);
        const read = readJson(target.value);
        setProblem(read.problem);
        onChange("value" in read ? read.value : value, read.problem);
      }}
    />
  );
}

function readJson(text: string): { readonly value?: unknown; readonly problem?: string } {
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: parseExact(text) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
