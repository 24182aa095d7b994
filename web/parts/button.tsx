import type { ButtonHTMLAttributes, Ref } from "react";

const KINDS = {
  plain: "border border-line bg-surface hover:bg-raised",
  main: "border border-accent bg-accent text-on-accent hover:opacity-90",
  danger: "border border-bad/60 text-bad bg-surface hover:bg-bad/10",
  quiet: "border border-transparent text-soft hover:bg-raised hover:text-ink",
} as const;

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: keyof typeof KINDS;
  /** The key that does the same, shown beside the words. */
  readonly hint?: string;
  /** It is being done: the words stay, and a second click does nothing. */
  readonly isBusy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ kind = "plain", hint, isBusy = false, children, className = "", ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={isBusy}
      {...rest}
      disabled={isBusy || rest.disabled === true}
      className={`inline-flex h-7 items-center gap-1.5 whitespace-nowrap rounded px-2.5 text-sm disabled:opacity-50 ${KINDS[kind]} ${className}`}
    >
      {children}
      {hint !== undefined && (
        <span
          aria-hidden="true"
          className="rounded border border-current/30 px-1 font-mono text-[0.65rem] max-sm:hidden"
        >
          {hint}
        </span>
      )}
    </button>
  );
}
