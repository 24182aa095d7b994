import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { TextArea } from "../../parts/fields.tsx";
import { type FormSchema, JsonField, SchemaForm } from "../../parts/schema-form.tsx";

/** What takes the place of the shown value. `problem`: why it cannot be sent as it stands. */
export interface Edited {
  readonly value: unknown;
  readonly problem?: string | undefined;
}

interface EditValueProps {
  readonly shown: unknown;
  readonly schema: object | null;
  readonly edited: Edited;
  readonly onChange: (edited: Edited) => void;
}

/** The shown value to be changed: a text as text, an object as a form of its schema or of its own fields, or JSON. The server checks it. */
export function EditValue({ shown, schema, edited, onChange }: EditValueProps) {
  const [isJson, setJson] = useState(false);
  const change = (value: unknown, problem: string | undefined) => onChange({ value, problem });
  const fields = isFields(shown) ? formOf(schema, shown) : undefined;
  return (
    <div className="grid gap-2">
      {typeof shown === "string" && !isJson ? (
        <TextArea
          label="Text"
          rows={Math.min(16, Math.max(4, shown.split("\n").length + 1))}
          value={String(edited.value ?? "")}
          onChange={({ target }) => change(target.value, undefined)}
        />
      ) : fields !== undefined && isFields(edited.value) && !isJson ? (
        <SchemaForm schema={fields} value={edited.value} onChange={change} />
      ) : (
        <JsonField label="Data" note="JSON." value={edited.value} onChange={change} />
      )}
      {edited.problem !== undefined && <p className="text-sm text-warn">{edited.problem}</p>}
      <div className="flex flex-wrap items-center gap-2 text-xs text-soft">
        <Button kind="quiet" disabled={edited.problem !== undefined} onClick={() => setJson(!isJson)}>
          {isJson ? "Edit its fields" : "Edit it as JSON"}
        </Button>
        {schema !== null && "It must fit the step's schema: the server checks it."}
      </div>
    </div>
  );
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schema of the question where it names fields, and else one of what is shown. */
function formOf(schema: FormSchema | null, shown: Fields): FormSchema | undefined {
  if (Object.keys(schema?.properties ?? {}).length > 0) return schema ?? undefined;
  const properties = Object.entries(shown).map(([name, value]) => [
    name,
    typeof value === "object" ? {} : { type: typeof value },
  ]);
  return properties.length === 0 ? undefined : { properties: Object.fromEntries(properties) };
}
