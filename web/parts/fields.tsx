import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { showDirections } from "../shown-jsx.ts";

const BOX =
  "w-full rounded border border-line bg-surface px-2 text-sm placeholder:text-soft aria-[invalid=true]:border-bad";

interface FieldProps {
  readonly label: string;
  /** Where the label would only repeat what is plain: it is read aloud all the same. */
  readonly hidesLabel?: boolean;
  readonly note?: ReactNode;
  readonly error?: string | undefined;
}

type Own<Attributes> = Omit<Attributes, "id" | "className"> & FieldProps;

function Field({
  id,
  label,
  hidesLabel = false,
  note,
  error,
  value,
  children,
}: FieldProps & { id: string; value?: unknown; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <label htmlFor={id} className={hidesLabel ? "sr-only" : "mb-0.5 block text-xs font-medium text-soft"}>
        {label}
      </label>
      {children}
      {typeof value === "string" && showDirections(value) !== value && (
        <p className="mt-0.5 whitespace-pre-wrap break-words text-xs text-warn">
          It has signs that turn the reading direction: {value}
        </p>
      )}
      {note && <p className="mt-0.5 text-xs text-soft">{note}</p>}
      {error !== undefined && (
        <p id={`${id}-error`} className="mt-0.5 whitespace-pre-wrap text-xs text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  hidesLabel = false,
  note,
  error,
  ...rest
}: Own<InputHTMLAttributes<HTMLInputElement>>) {
  const id = useId();
  return (
    <Field
      id={id}
      label={label}
      hidesLabel={hidesLabel}
      note={note}
      error={error}
      value={rest.value ?? rest.defaultValue}
    >
      <input
        id={id}
        type="text"
        autoComplete="off"
        spellCheck={false}
        {...rest}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        className={`${BOX} h-7`}
      />
    </Field>
  );
}

export function TextArea({
  label,
  hidesLabel = false,
  note,
  error,
  ...rest
}: Own<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const id = useId();
  return (
    <Field id={id} label={label} hidesLabel={hidesLabel} note={note} error={error} value={rest.value}>
      <textarea
        id={id}
        rows={4}
        spellCheck={false}
        {...rest}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        className={`${BOX} py-1 font-mono`}
      />
    </Field>
  );
}

type ChoiceProps = Own<Omit<SelectHTMLAttributes<HTMLSelectElement>, "onChange">> & {
  /** What is sent, and what is read. */
  readonly choices: readonly (readonly [value: string, words: string])[];
  readonly onPick: (value: string) => void;
};

export function Choice({ label, hidesLabel = false, note, error, choices, onPick, ...rest }: ChoiceProps) {
  const id = useId();
  return (
    <Field id={id} label={label} hidesLabel={hidesLabel} note={note} error={error}>
      <select id={id} {...rest} className={`${BOX} h-7`} onChange={(event) => onPick(event.target.value)}>
        {choices.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  );
}

interface CheckProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Check({ label, isOn, onChange }: CheckProps) {
  return (
    <label className="inline-flex items-center gap-1.5 text-sm">
      <input
        type="checkbox"
        checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
        className="accent-accent"
      />
      {label}
    </label>
  );
}
