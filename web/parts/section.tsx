import type { ReactNode } from "react";

export function Section({ title, children, actions }: { title: string; children: ReactNode; actions?: ReactNode }) {
  return (
    <section className="mt-3">
      <div className="mb-1 flex items-center justify-between border-b border-line pb-0.5">
        <h2 className="text-xs font-semibold uppercase tracking-wide text-soft">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
